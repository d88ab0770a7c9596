package io.punctual.core.store.redis.script;

import io.punctual.core.store.StoreException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Converts the exceptions of the Redis driver to a {@link StoreException}, whose kind says how to
 * continue.
 */
public final class StoreErrors {

  /** Replies after which nothing was changed, and a later call may be taken. */
  private static final Pattern REFUSAL =
      code(
          "OOM|READONLY|LOADING|BUSY|MISCONF|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|MASTERDOWN"
              + "|NOAUTH|WRONGPASS|NOPERM|ERR max number of clients");

  private static final Pattern FOREIGN_TYPE = code("WRONGTYPE");
  private static final Pattern OLD_REDIS = Pattern.compile("nknown (Redis )?command");

  private StoreErrors() {}

  /**
   * Makes a call to Redis. What is not Redis's or its driver's fault is thrown as it is: it is
   * ours.
   *
   * @param what the call, for the message
   */
  public static <T> T translated(String what, Supplier<T> call) {
    try {
      return call.get();
    } catch (DataAccessException | JedisException e) {
      throw translate(what, e);
    } catch (IllegalStateException e) {
      // A connection factory that was stopped or not yet started.
      throw new StoreException(
          StoreException.Kind.UNREACHABLE, what + ": no connection: " + e.getMessage(), e);
    }
  }

  /** Whether a reply with this code is the cause. */
  static boolean says(Throwable e, String code) {
    return reply(e, code(code)) != null;
  }

  /** Whether Redis answered, with an error. */
  public static boolean isAnswer(Throwable e) {
    return root(e) instanceof JedisDataException;
  }

  // Errors of a script have their code in front from Redis 7 on, and in 6.2 behind the place in
  // the script: 'ERR Error running script (...): @user_script: 12: -OOM command not allowed ...',
  // or
  // '@user_script:12: WRONGTYPE Operation ...'.
  private static Pattern code(String codes) {
    return Pattern.compile("(?:^|: -|@user_script:\\d+: )(?:" + codes + ")\\b");
  }

  private static StoreException translate(String what, RuntimeException e) {
    String corrupt = reply(e, FOREIGN_TYPE);
    if (corrupt != null) {
      return foreignType(what, corrupt, e);
    }
    String refusal = reply(e, REFUSAL);
    if (refusal != null) {
      return new StoreException(
          StoreException.Kind.REFUSED, what + ": Redis refused: " + refusal, e);
    }
    Throwable root = root(e);
    if (root instanceof JedisDataException) {
      String message = String.valueOf(root.getMessage());
      String hint = OLD_REDIS.matcher(message).find() ? "; Punctual needs Redis 6.2 or newer" : "";
      return new StoreException(
          StoreException.Kind.CORRUPT,
          what + ": Redis answered with an error: " + message + hint,
          e);
    }
    return new StoreException(
        StoreException.Kind.UNREACHABLE,
        what
            + ": Redis gave no answer: "
            + root.getClass().getSimpleName()
            + ": "
            + root.getMessage(),
        e);
  }

  /**
   * Something else uses a key.
   *
   * @param found which, and what is there
   */
  static StoreException foreignType(String what, String found, @Nullable RuntimeException e) {
    return new StoreException(
        StoreException.Kind.CORRUPT,
        what + ": " + found + "; something else uses this key, remove or rename it",
        e);
  }

  private static @Nullable String reply(Throwable e, Pattern code) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      String message = t.getMessage();
      if (message != null && code.matcher(message).find()) {
        return message;
      }
    }
    return null;
  }

  private static Throwable root(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }
}
