package io.punctual.systemtest;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/** Waits for conditions with a generous deadline. */
public final class Waiting {

  /** How long a condition may take if its caller says nothing else. */
  static final Duration PATIENCE = Duration.ofSeconds(90);

  // A condition may hold for a moment only.
  private static final Duration PAUSE = Duration.ofMillis(50);

  private Waiting() {}

  /** Waits until the condition holds; what it throws counts as not yet. */
  public static void until(String what, Callable<Boolean> condition) {
    until(what, PATIENCE, condition);
  }

  /** Waits at most that long. */
  public static void until(String what, Duration patience, Callable<Boolean> condition) {
    until(what, patience, PAUSE, condition);
  }

  /**
   * Waits for a state that may last for milliseconds only.
   *
   * @param condition costs the program under test little: it is asked without pauses
   */
  public static void untilOnce(String what, Callable<Boolean> condition) {
    until(what, PATIENCE, Duration.ofMillis(1), condition);
  }

  /** Waits at most {@code patience}, and looks once in each {@code pause}. */
  static void until(String what, Duration patience, Duration pause, Callable<Boolean> condition) {
    Awaitility.await(what)
        .atMost(patience)
        .pollInterval(pause)
        .ignoreExceptionsMatching(e -> !(e instanceof IllegalStateException))
        .until(condition);
  }
}
