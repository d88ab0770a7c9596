package io.punctual.server.security;

import com.github.benmanes.caffeine.cache.Cache;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

/**
 * Checks names and passwords of operators, as often as {@link LoginThrottle} allows.
 *
 * <p>Checking a bcrypt hash deliberately costs about 100 ms of CPU. One thread does so for all
 * strangers, and another one for addresses from which an operator has logged in lately. A right
 * password is remembered for a while as a keyed hash, and concurrent calls with the same password
 * share one check. So strangers take neither the processors from the jobs nor the turn from
 * operators.
 */
final class OperatorLogin implements AuthenticationManager {

  /** How long a right password is not checked again. */
  static final Duration REMEMBERED = Duration.ofMinutes(5);

  private static final Duration KNOWN = Duration.ofDays(1);
  private static final int MAX_WAITING = 16;
  private static final int MAX_WAITING_OF_ADDRESS = 4;
  // As SecurityProperties allows them.
  private static final int MAX_NAME = 64;
  private static final String MAC = "HmacSHA256";
  // Compared with for names that do not exist, so that these take as long.
  private static final String NOBODY =
      "{bcrypt}$2a$10$dlq1FNraFOHxQ6Qr4dPsR.5x30IUAVeA1PLgUK/COpevAQQeU8PKG";

  private final SecurityProperties properties;
  private final PasswordEncoder passwords;
  private final LoginThrottle throttle;
  private final ThreadPoolExecutor ofStrangers = thread("punctual-passwords");
  private final ThreadPoolExecutor ofKnown = thread("punctual-passwords-known");
  private final SecretKeySpec key = randomKey();
  private final Map<String, CompletableFuture<Void>> checks = new ConcurrentHashMap<>();
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();
  // Right passwords, by their keyed hash.
  private final Cache<String, Boolean> right;
  // Addresses of earlier logins.
  private final Cache<String, Boolean> known;

  /** Name and password of one login, and the address that sent them. */
  private record Attempt(String name, String password, String address) {}

  /**
   * @param ticks monotonic ns
   */
  OperatorLogin(SecurityProperties properties, PasswordEncoder passwords, LongSupplier ticks) {
    this.properties = properties;
    this.passwords = passwords;
    this.throttle = new LoginThrottle(ticks);
    this.right = LoginThrottle.bounded(ticks).expireAfterWrite(REMEMBERED).build();
    this.known = LoginThrottle.bounded(ticks).expireAfterWrite(KNOWN).build();
  }

  private static ThreadPoolExecutor thread(String name) {
    ThreadPoolExecutor thread =
        new ThreadPoolExecutor(
            1,
            1,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            Thread.ofPlatform().daemon().name(name).factory());
    thread.allowCoreThreadTimeOut(true);
    return thread;
  }

  private static SecretKeySpec randomKey() {
    byte[] random = new byte[32];
    new SecureRandom().nextBytes(random);
    return new SecretKeySpec(random, MAC);
  }

  @Override
  public Authentication authenticate(Authentication authentication) {
    Attempt attempt =
        new Attempt(
            authentication.getName(),
            String.valueOf(authentication.getCredentials()),
            address(authentication));
    if (attempt.name().length() > MAX_NAME) {
      // No operator has such a name, and it is not worth remembering.
      throttle.requireAddress(attempt.address());
      throttle.addressFailed(attempt.address());
      throw new BadCredentialsException("the name or the password is wrong");
    }
    SecurityProperties.Operator operator = properties.operators().get(attempt.name());
    String hash = operator == null ? NOBODY : operator.password();
    String mark = mark(attempt, hash);
    // Refused callers stay refused, even with a remembered password.
    throttle.require(attempt.name(), attempt.address());
    if (right.getIfPresent(mark) != null) {
      throttle.succeeded(attempt.name(), attempt.address());
    } else {
      check(attempt, operator != null, hash, mark);
    }
    if (operator == null) {
      throw new BadCredentialsException("the name or the password is wrong");
    }
    return new CallerAuthentication(Caller.operator(attempt.name(), operator.role()));
  }

  private static String address(Authentication authentication) {
    return authentication.getDetails() instanceof WebAuthenticationDetails details
        ? String.valueOf(details.getRemoteAddress())
        : "";
  }

  // Of the stored hash, too: a password that was changed is not remembered.
  private String mark(Attempt attempt, String hash) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(key);
      for (String part :
          new String[] {attempt.address(), attempt.name(), hash, attempt.password()}) {
        byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
        mac.update(Integer.toString(bytes.length).getBytes(StandardCharsets.US_ASCII));
        mac.update((byte) ' ');
        mac.update(bytes);
      }
      return HexFormat.of().formatHex(mac.doFinal());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private void check(Attempt attempt, boolean exists, String hash, String mark) {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<Void> before = checks.putIfAbsent(mark, mine);
    if (before == null) {
      start(attempt, exists, hash, mark, mine);
    }
    try {
      (before == null ? mine : before).get();
    } catch (ExecutionException e) {
      // A new exception for each caller that shares the check.
      if (e.getCause() instanceof TooManyFailuresException failed) {
        throw new TooManyFailuresException(failed.pause());
      }
      if (!(e.getCause() instanceof AuthenticationException)) {
        throw new UndecidedException("the password could not be checked", e);
      }
      throw new BadCredentialsException("the name or the password is wrong");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UndecidedException("this scheduler is stopping", e);
    }
  }

  private void start(
      Attempt attempt, boolean exists, String hash, String mark, CompletableFuture<Void> answer) {
    String address = attempt.address();
    try {
      if (waiting.merge(address, 1, Integer::sum) > MAX_WAITING_OF_ADDRESS) {
        throw new RejectedExecutionException();
      }
      (known.getIfPresent(address) == null ? ofStrangers : ofKnown)
          .execute(
              () -> {
                try {
                  decide(attempt, exists, hash, mark);
                  ended(address, mark);
                  answer.complete(null);
                } catch (Throwable e) {
                  // Also an Error: callers that share this check wait for its end.
                  ended(address, mark);
                  answer.completeExceptionally(e);
                }
              });
    } catch (RejectedExecutionException e) {
      ended(address, mark);
      answer.completeExceptionally(new TooManyFailuresException(Duration.ofSeconds(2)));
    }
  }

  private void ended(String address, String mark) {
    waiting.computeIfPresent(address, (any, count) -> count == 1 ? null : count - 1);
    checks.remove(mark);
  }

  // One after the other for one address, so that many guesses at once are no more than one by one.
  private void decide(Attempt attempt, boolean exists, String hash, String mark) {
    throttle.require(attempt.name(), attempt.address());
    if (!matches(attempt.password(), hash) || !exists) {
      throttle.failed(attempt.name(), attempt.address());
      throw new BadCredentialsException("wrong");
    }
    throttle.succeeded(attempt.name(), attempt.address());
    right.put(mark, true);
    known.put(attempt.address(), true);
  }

  private boolean matches(String password, String hash) {
    try {
      return passwords.matches(password, hash);
    } catch (IllegalArgumentException e) {
      // Longer than any password that was ever hashed.
      return false;
    }
  }
}
