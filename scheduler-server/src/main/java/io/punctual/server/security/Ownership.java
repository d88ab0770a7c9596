package io.punctual.server.security;

import io.punctual.ErrorCode;
import io.punctual.core.job.QueueName;
import io.punctual.server.problem.ApiException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Confines applications to their own jobs. */
public final class Ownership {

  private Ownership() {}

  /**
   * Refuses an application that asks for another one's jobs.
   *
   * @throws ApiException 403
   */
  public static void require(String application) {
    Caller caller = Caller.current();
    if (!caller.mayTouch(application.toLowerCase(Locale.ROOT))) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "the token is that of the application " + caller.application() + ", not of another one");
    }
  }

  /**
   * Returns the application that a call is about.
   *
   * @param given what the call says; null means the caller's own
   * @return null if neither says
   * @throws ApiException 403 if it is not the caller's
   */
  public static @Nullable String application(@Nullable String given) {
    if (given == null) {
      return Caller.current().application();
    }
    require(given);
    return given;
  }

  /** Returns whether the caller may see a queue. */
  public static boolean sees(QueueName queue) {
    return Caller.current().mayTouch(queue.application());
  }
}
