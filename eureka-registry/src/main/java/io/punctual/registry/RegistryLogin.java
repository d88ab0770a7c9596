package io.punctual.registry;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

/**
 * Checks the name and the password. An address that tries several wrong ones is refused for a
 * while.
 *
 * <p>An application that has an old password sends the same wrong one again and again: that is no
 * guessing. And an address that had the right password lately keeps its access, since one program
 * must not shut out its neighbours behind the same address.
 */
final class RegistryLogin implements AuthenticationProvider {

  private static final Logger log = LoggerFactory.getLogger(RegistryLogin.class);

  /** How many different wrong pairs of name and password an address may try within the pause. */
  static final int GUESSES = 5;

  /** How long an address is refused after its last guess. */
  static final Duration PAUSE = Duration.ofMinutes(1);

  private static final Duration KNOWN = Duration.ofDays(1);
  private static final int MAX_ADDRESSES = 10_000;

  private final SecretEncoder encoder;
  private final String expected;
  private final LongSupplier ticks;
  // Guarded by this.
  private final Map<String, Guesses> guesses = bounded();
  private final Map<String, Long> known = bounded();

  private record Guesses(Set<String> tried, long last) {}

  /** Refuses an address that guesses. */
  static final class TooManyGuessesException extends AuthenticationException {

    private static final long serialVersionUID = 1L;

    private final Duration pause;

    TooManyGuessesException(Duration pause) {
      super("too many wrong passwords from this address");
      this.pause = pause;
    }

    /** Returns how long to wait. */
    Duration pause() {
      return pause;
    }
  }

  /**
   * @param ticks monotonic ns
   */
  RegistryLogin(RegistryProperties properties, SecretEncoder encoder, LongSupplier ticks) {
    this.encoder = encoder;
    this.expected = encoder.encode(pair(RegistryProperties.USERNAME, properties.password()));
    this.ticks = ticks;
  }

  private static <V> Map<String, V> bounded() {
    return new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
        return size() > MAX_ADDRESSES;
      }
    };
  }

  // A name has no colon.
  private static String pair(String name, @Nullable Object password) {
    return name + ":" + password;
  }

  @Override
  public boolean supports(Class<?> authentication) {
    return UsernamePasswordAuthenticationToken.class.isAssignableFrom(authentication);
  }

  @Override
  public Authentication authenticate(Authentication authentication) {
    String pair = pair(authentication.getName(), authentication.getCredentials());
    String address =
        authentication.getDetails() instanceof WebAuthenticationDetails details
            ? String.valueOf(details.getRemoteAddress())
            : "";
    check(address, pair);
    return UsernamePasswordAuthenticationToken.authenticated(
        authentication.getName(), null, List.of());
  }

  private synchronized void check(String address, String pair) {
    long now = ticks.getAsLong();
    long pause = pause(address, now);
    if (pause > 0 && !isKnown(address, now)) {
      throw new TooManyGuessesException(Duration.ofNanos(pause));
    }
    if (encoder.matches(pair, expected)) {
      known.put(address, now);
      return;
    }
    if (pause > 0) {
      throw new TooManyGuessesException(Duration.ofNanos(pause));
    }
    failed(address, encoder.encode(pair), now);
    throw new BadCredentialsException("the name or the password is wrong");
  }

  private boolean isKnown(String address, long now) {
    Long last = known.get(address);
    return last != null && now - last < KNOWN.toNanos();
  }

  /** How long an address is still refused, in ns. */
  private long pause(String address, long now) {
    Guesses seen = guesses.get(address);
    return seen == null || seen.tried().size() < GUESSES ? 0 : seen.last() + PAUSE.toNanos() - now;
  }

  private void failed(String address, String tried, long now) {
    Guesses seen = guesses.get(address);
    Set<String> all =
        seen == null || now - seen.last() > PAUSE.toNanos()
            ? new HashSet<>()
            : new HashSet<>(seen.tried());
    if (all.add(tried) && all.size() == GUESSES) {
      log.warn(
          "{} wrong passwords came from {}: the registry refuses it for {} s. If an application"
              + " there has an old password, give it the new one",
          GUESSES,
          address,
          PAUSE.toSeconds());
    }
    guesses.put(address, new Guesses(all, now));
  }
}
