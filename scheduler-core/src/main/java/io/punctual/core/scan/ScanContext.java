package io.punctual.core.scan;

import io.punctual.core.Dispatcher;
import io.punctual.core.membership.Owners;
import io.punctual.core.pull.Pulls;
import io.punctual.core.recovery.Contact;
import io.punctual.core.store.Members;
import io.punctual.core.wake.IdleChecks;
import io.punctual.core.work.Context;
import org.jspecify.annotations.Nullable;

/**
 * The state that the scanners of one engine share.
 *
 * @param signals null in production
 */
public record ScanContext(
    Context context,
    Dispatcher dispatcher,
    Contact contact,
    Pulls pulls,
    IdleChecks idleChecks,
    ScanPermits looks,
    ScanCount scanners,
    Members members,
    Owners owners,
    @Nullable ScanSignals signals) {}
