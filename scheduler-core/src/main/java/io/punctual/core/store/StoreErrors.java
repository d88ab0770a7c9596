package io.punctual.core.store;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/** Turns what the driver throws into a {@link StoreException} that says how to go on. */
final class StoreErrors {

  /** Replies after which nothing was changed, and a later call may be taken. */
  private static final List<String> REFUSALS =
      List.of(
          "OOM",
          "READONLY",
          "LOADING",
          "BUSY",
          "MISCONF",
          "CLUSTERDOWN",
          "TRYAGAIN",
          "NOREPLICAS",
          "MASTERDOWN",
          "NOAUTH",
          "WRONGPASS",
          "NOPERM");

  private StoreErrors() {}

  static <T> T translated(String what, Supplier<T> call) {
    try {
      return call.get();
    } catch (StoreException e) {
      throw e;
    } catch (RuntimeException e) {
      throw translate(what, e);
    }
  }

  /** Whether a reply of this kind is the cause. */
  static boolean says(Throwable e, String code) {
    return reply(e, List.of(code)) != null;
  }

  private static StoreException translate(String what, RuntimeException e) {
    String corrupt = reply(e, List.of("WRONGTYPE"));
    if (corrupt != null) {
      return new StoreException(
          StoreException.Kind.CORRUPT,
          what + ": " + corrupt + "; something else uses this key, remove or rename it",
          e);
    }
    String refusal = reply(e, REFUSALS);
    if (refusal != null) {
      return new StoreException(
          StoreException.Kind.REFUSED, what + ": Redis refused: " + refusal, e);
    }
    if (root(e) instanceof JedisDataException) {
      return new StoreException(
          StoreException.Kind.CORRUPT, what + ": Redis answered with an error: " + text(e), e);
    }
    return new StoreException(
        StoreException.Kind.UNREACHABLE, what + ": Redis gave no answer: " + text(e), e);
  }

  private static @Nullable String reply(Throwable e, List<String> codes) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      String message = t.getMessage();
      if (message != null) {
        for (String code : codes) {
          // A script's own errors come as 'ERR user_script:12: OOM ...' or with a prefix of '-'.
          if (message.startsWith(code + " ") || message.contains(" " + code + " ")) {
            return message;
          }
        }
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

  private static String text(Throwable e) {
    Throwable root = root(e);
    return root.getClass().getSimpleName() + ": " + root.getMessage();
  }
}
