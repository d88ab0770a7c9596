package io.punctual.systemtest;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/** Waits for conditions with a generous deadline. */
public final class Waiting {

  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private Waiting() {}

  /** Waits until the condition holds; what it throws counts as not yet. */
  public static void until(String what, Callable<Boolean> condition) {
    until(what, PATIENCE, condition);
  }

  /** Waits at most that long. */
  public static void until(String what, Duration patience, Callable<Boolean> condition) {
    Awaitility.await(what)
        .atMost(patience)
        .pollInterval(Duration.ofMillis(50))
        .ignoreExceptionsMatching(e -> !(e instanceof IllegalStateException))
        .until(condition);
  }
}
