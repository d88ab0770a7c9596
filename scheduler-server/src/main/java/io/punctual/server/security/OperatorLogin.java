package io.punctual.server.security;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

/** Names and passwords of operators. Who guesses is made to wait. */
final class OperatorLogin implements AuthenticationManager {

  private static final Logger log = LoggerFactory.getLogger(OperatorLogin.class);

  /** So many wrong passwords for one name from one address... */
  static final int FAILURES = 5;

  /** ... within this time, and both together are refused for as long. */
  static final Duration PAUSE = Duration.ofMinutes(1);

  /** So many wrong ones from one address, whatever the names. */
  static final int FAILURES_OF_ADDRESS = 50;

  private static final int MAX_WAITING = 16;
  private static final int MAX_KNOWN = 10_000;
  // Compared with for names that do not exist, so that these take as long.
  private static final String NOBODY =
      "{bcrypt}$2a$10$dlq1FNraFOHxQ6Qr4dPsR.5x30IUAVeA1PLgUK/COpevAQQeU8PKG";

  private final SecurityProperties properties;
  private final PasswordEncoder passwords;
  private final LongSupplier ticks;
  private final ThreadPoolExecutor hashing =
      new ThreadPoolExecutor(
          1,
          1,
          30,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MAX_WAITING),
          Thread.ofPlatform().daemon().name("punctual-passwords").factory());
  private final Map<String, Failures> failures =
      new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Failures> eldest) {
          return size() > MAX_KNOWN;
        }
      };

  private record Failures(int count, long first) {}

  /**
   * @param ticks monotonic ns
   */
  OperatorLogin(SecurityProperties properties, PasswordEncoder passwords, LongSupplier ticks) {
    this.properties = properties;
    this.passwords = passwords;
    this.ticks = ticks;
    hashing.allowCoreThreadTimeOut(true);
  }

  @Override
  public Authentication authenticate(Authentication authentication) {
    String name = authentication.getName();
    SecurityProperties.Operator operator = properties.operators().get(name);
    // Also for a name that nobody has: it must not be told from one that somebody has. By address,
    // so that a stranger cannot shut an operator out.
    String who = name + "@" + address(authentication);
    String from = address(authentication);
    refuseGuessing(who, FAILURES);
    refuseGuessing(from, FAILURES_OF_ADDRESS);
    String hash = operator == null ? NOBODY : operator.password();
    boolean right = matches(String.valueOf(authentication.getCredentials()), hash);
    if (operator == null || !right) {
      failed(who, FAILURES);
      failed(from, FAILURES_OF_ADDRESS);
      throw new BadCredentialsException("the name or the password is wrong");
    }
    forget(who);
    return new CallerAuthentication(Caller.operator(name, operator.role()));
  }

  private static String address(Authentication authentication) {
    return authentication.getDetails() instanceof WebAuthenticationDetails details
        ? String.valueOf(details.getRemoteAddress())
        : "";
  }

  // On one thread of its own: whoever guesses takes no more than that from the jobs.
  private boolean matches(String password, String hash) {
    try {
      return hashing.submit(() -> passwords.matches(password, hash)).get();
    } catch (RejectedExecutionException e) {
      throw new TooManyFailuresException(Duration.ofSeconds(2));
    } catch (ExecutionException e) {
      // Not even a password: longer than any that was ever hashed.
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UndecidedException("this scheduler ends", e);
    }
  }

  private synchronized void refuseGuessing(String who, int limit) {
    Failures seen = failures.get(who);
    if (seen != null && seen.count() >= limit) {
      long left = seen.first() + PAUSE.toNanos() - ticks.getAsLong();
      if (left > 0) {
        throw new TooManyFailuresException(Duration.ofNanos(left));
      }
      failures.remove(who);
    }
  }

  private synchronized void failed(String who, int limit) {
    Failures seen = failures.get(who);
    long now = ticks.getAsLong();
    Failures more =
        seen == null || now - seen.first() > PAUSE.toNanos()
            ? new Failures(1, now)
            : new Failures(seen.count() + 1, seen.first());
    failures.put(who, more);
    if (more.count() == limit) {
      log.warn(
          "{} logins of {} failed within {}: it is refused for as long",
          limit,
          Printable.of(who),
          PAUSE);
    }
  }

  private synchronized void forget(String who) {
    failures.remove(who);
  }
}
