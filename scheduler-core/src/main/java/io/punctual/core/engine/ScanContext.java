package io.punctual.core.engine;

import org.jspecify.annotations.Nullable;

/**
 * What the scanners of one engine share.
 *
 * @param signals null in production
 */
record ScanContext(
    Context context,
    Dispatcher dispatcher,
    Contact contact,
    Pulls pulls,
    IdleChecks idleChecks,
    Looks looks,
    @Nullable ScanSignals signals) {}
