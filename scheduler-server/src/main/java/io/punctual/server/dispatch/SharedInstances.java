package io.punctual.server.dispatch;

import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares with other schedulers which instances' connections broke, and which have a suspect. While
 * nothing breaks, it makes no call. If Redis does not answer, no attempt counts.
 */
final class SharedInstances {

  /** Connections to one process that ended break within this time at all schedulers. */
  static final Duration SAME_END = Duration.ofSeconds(1);

  /** Longest time that an instance is reserved: a suspect that runs longer is no suspect. */
  static final Duration RESERVED = Suspects.HOLD;

  private static final Logger log = LoggerFactory.getLogger(SharedInstances.class);
  private static final Duration REMEMBERED = SAME_END.multipliedBy(3);
  private static final long SURELY_RESERVED = RESERVED.minusSeconds(2).toNanos();

  /** Waits. */
  interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  private final InstanceMarks marks;
  private final Pause pause;
  private final String self = UUID.randomUUID().toString();

  /**
   * @param pause waits for other schedulers to notice a broken connection
   */
  SharedInstances(InstanceMarks marks, Pause pause) {
    this.marks = marks;
    this.pause = pause;
  }

  /** Tells other schedulers that connections to the instance broke. Blocks. */
  void broke(WorkerInstance instance) {
    try {
      var unused = marks.broke(name(instance), self, REMEMBERED);
    } catch (RuntimeException e) {
      log.debug("Telling other schedulers that connections to {} broke failed", instance.id(), e);
    }
  }

  /**
   * The same, and waits until other schedulers have noticed it, too.
   *
   * @return whether no other scheduler lost a connection to the instance within a second
   */
  boolean brokeHereOnly(WorkerInstance instance) {
    try {
      long noted = marks.broke(name(instance), self, REMEMBERED);
      pause.of(SAME_END);
      return marks.broken(name(instance), noted - SAME_END.toMillis()) == 1;
    } catch (RuntimeException e) {
      log.debug("Not known whether other schedulers had jobs at {}", instance.id(), e);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Runs an action while no other scheduler has a suspect at the instance. Blocks.
   *
   * @return false if another scheduler has one, and nothing was run
   */
  boolean alone(WorkerInstance instance, Runnable action) {
    long start = System.nanoTime();
    try {
      if (!marks.reserve(name(instance), RESERVED)) {
        return false;
      }
    } catch (RuntimeException e) {
      log.debug("Not known whether other schedulers have a suspect at {}", instance.id(), e);
      return false;
    }
    try {
      action.run();
    } finally {
      release(instance, start);
    }
    return true;
  }

  private void release(WorkerInstance instance, long since) {
    if (System.nanoTime() - since >= SURELY_RESERVED) {
      // It may be another scheduler's by now; else it ends soon.
      return;
    }
    try {
      marks.release(name(instance));
    } catch (RuntimeException e) {
      log.debug("{} stays reserved for up to {}", instance.id(), RESERVED, e);
    }
  }

  private static String name(WorkerInstance instance) {
    return instance.application() + " " + instance.id();
  }
}
