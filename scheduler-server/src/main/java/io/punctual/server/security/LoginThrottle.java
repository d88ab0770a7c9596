package io.punctual.server.security;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import io.punctual.server.text.Printable;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses guesses for a while. Counts failed logins of a name from an address, so that a stranger
 * cannot shut an operator out, and of an address with any names. Unknown names count as known ones
 * do, and cannot be told from them.
 */
final class LoginThrottle {

  /** Wrong passwords for one name from one address... */
  static final int FAILURES = 5;

  /** ... within this time, and both together are refused for as long. */
  static final Duration PAUSE = Duration.ofMinutes(1);

  /** Wrong passwords from one address, for any names. */
  static final int FAILURES_OF_ADDRESS = 50;

  private static final Logger log = LoggerFactory.getLogger(LoginThrottle.class);
  private static final int MAX_KEPT = 10_000;

  private final LongSupplier ticks;
  // By name and address, and by address.
  private final Cache<String, Failures> failures;

  private record Failures(int count, long first) {}

  /**
   * @param ticks monotonic ns
   */
  LoginThrottle(LongSupplier ticks) {
    this.ticks = ticks;
    this.failures = bounded(ticks).expireAfter(Expiry.creating((who, count) -> PAUSE)).build();
  }

  /** Starts a cache that no number of strangers fills. */
  static Caffeine<Object, Object> bounded(LongSupplier ticks) {
    return Caffeine.newBuilder()
        .maximumSize(MAX_KEPT)
        .ticker(ticks::getAsLong)
        .executor(Runnable::run);
  }

  /**
   * Checks whether a login may be tried.
   *
   * @throws TooManyFailuresException if the name or the address has failed too often
   */
  void require(String name, String address) {
    require(who(name, address), FAILURES);
    requireAddress(address);
  }

  /** The same for an address alone. */
  void requireAddress(String address) {
    require(address, FAILURES_OF_ADDRESS);
  }

  private void require(String who, int limit) {
    Failures some = failures.getIfPresent(who);
    if (some != null && some.count() >= limit) {
      long left = some.first() + PAUSE.toNanos() - ticks.getAsLong();
      throw new TooManyFailuresException(Duration.ofNanos(Math.max(0, left)));
    }
  }

  void failed(String name, String address) {
    count(who(name, address), FAILURES);
    addressFailed(address);
  }

  void addressFailed(String address) {
    count(address, FAILURES_OF_ADDRESS);
  }

  private void count(String who, int limit) {
    Failures all =
        failures
            .asMap()
            .merge(
                who,
                new Failures(1, ticks.getAsLong()),
                (earlier, one) -> new Failures(earlier.count() + 1, earlier.first()));
    if (all != null && all.count() == limit) {
      log.warn(
          "{} logins of {} failed within {}; its logins are refused for {}",
          limit,
          Printable.of(who),
          PAUSE,
          PAUSE);
    }
  }

  /** Forgets failures of a name from an address that has logged in. */
  void succeeded(String name, String address) {
    failures.invalidate(who(name, address));
  }

  private static String who(String name, String address) {
    return name + "@" + address;
  }
}
