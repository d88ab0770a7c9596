package io.punctual.core.membership;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.Members;
import io.punctual.core.store.Members.Member;
import io.punctual.core.store.StoreException;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this engine among the members of the store, and {@link Owners} up to date. All times are
 * the store's. If the store does not answer, the members stay as they were: no engine gets jobs
 * from it then.
 */
public final class Membership {

  private static final Logger log = LoggerFactory.getLogger(Membership.class);
  private static final String DUTY = "The heartbeat of this scheduler";

  /** The time between two heartbeats. */
  static final Duration BEAT = Duration.ofMillis(500);

  /** After this time without a heartbeat a member is missed. */
  static final Duration LIFE = Duration.ofMillis(1_500);

  private final Members members;
  private final Context context;
  private final String name;
  private final String version;
  private final Supplier<@Nullable Set<QueueName>> served;
  private final Owners owners;
  private final Runnable changed;
  private final WakeSignal signal = new WakeSignal();
  private boolean left;
  private volatile boolean stopping;

  /**
   * @param name of this member, unique
   * @param version of its program
   * @param served gives the queues whose jobs this engine delivers; null for all
   * @param changed called when {@link Owners} have changed
   */
  public Membership(
      Members members,
      Context context,
      String name,
      String version,
      Supplier<@Nullable Set<QueueName>> served,
      Owners owners,
      Runnable changed) {
    this.members = members;
    this.context = context;
    this.name = name;
    this.version = version;
    this.served = served;
    this.owners = owners;
    this.changed = changed;
  }

  /** Joins, and sends heartbeats until it is stopped. */
  public void start() {
    var unused = context.threads().start("punctual-membership", this::run);
  }

  /** Sends a heartbeat now: a member has come or gone. */
  public void refresh() {
    signal.ask();
  }

  /** Sends no more heartbeats; returns at once. The others miss it after some time. */
  public void stop() {
    stopping = true;
    signal.ask();
  }

  /** Leaves, so that the others take over at once. Waits for the store, but not for long. */
  public void leave() throws InterruptedException {
    stop();
    CountDownLatch over = new CountDownLatch(1);
    context
        .threads()
        .run(
            () -> {
              try {
                leaveNow();
              } finally {
                over.countDown();
              }
            });
    var unused = over.await(BEAT.toMillis(), TimeUnit.MILLISECONDS);
  }

  private synchronized void leaveNow() {
    left = true;
    try {
      members.leave(new Member(name, version, null));
    } catch (StoreException e) {
      log.debug("The others were not told that this scheduler stops: {}", e.getMessage());
    }
  }

  private void run() {
    while (!stopping) {
      signal.take();
      signal.sleep(beat());
    }
  }

  /** Returns after how many ns to send the next one. */
  private long beat() {
    try {
      Members.Others others;
      synchronized (this) {
        if (left) {
          return 0;
        }
        others = members.beat(new Member(name, version, served.get()), LIFE);
      }
      if (owners.update(others.members())) {
        changed.run();
      }
      context.defects().worked(DUTY);
      Duration end = others.firstEnd();
      // A member that is alive has come again by the time of the next heartbeat.
      return end == null || end.compareTo(BEAT) > 0 ? BEAT.toNanos() : end.toNanos();
    } catch (StoreException e) {
      log.debug("A heartbeat was not taken: {}", e.getMessage());
    } catch (RuntimeException | Error e) {
      context.defects().met(DUTY, e);
    }
    return BEAT.toNanos();
  }
}
