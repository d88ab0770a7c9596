package io.punctual.server.security;

import io.punctual.server.text.Printable;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

/**
 * Names and passwords of operators. Who guesses is made to wait.
 *
 * <p>To look at a password takes a tenth of a second of a processor, by intent. So it is done by
 * one thread for all strangers, and by another one for the addresses from which somebody has logged
 * in lately; a password that was right is remembered for a while, as a keyed hash; and calls that
 * bring the same one at once share one look. Strangers can therefore take neither the processors
 * from the jobs nor the turn from those who are known.
 */
final class OperatorLogin implements AuthenticationManager {

  private static final Logger log = LoggerFactory.getLogger(OperatorLogin.class);

  /** So many wrong passwords for one name from one address... */
  static final int FAILURES = 5;

  /** ... within this time, and both together are refused for as long. */
  static final Duration PAUSE = Duration.ofMinutes(1);

  /** So many wrong ones from one address, whatever the names. */
  static final int FAILURES_OF_ADDRESS = 50;

  /** For how long a right password is not looked at again. */
  static final Duration REMEMBERED = Duration.ofMinutes(5);

  private static final Duration KNOWN = Duration.ofDays(1);
  private static final int MAX_WAITING = 16;
  private static final int MAX_WAITING_OF_ADDRESS = 4;
  private static final int MAX_KEPT = 10_000;
  // As SecurityProperties allows them.
  private static final int MAX_NAME = 64;
  private static final String MAC = "HmacSHA256";
  // Compared with for names that do not exist, so that these take as long.
  private static final String NOBODY =
      "{bcrypt}$2a$10$dlq1FNraFOHxQ6Qr4dPsR.5x30IUAVeA1PLgUK/COpevAQQeU8PKG";

  private final SecurityProperties properties;
  private final PasswordEncoder passwords;
  private final LongSupplier ticks;
  private final ThreadPoolExecutor ofStrangers = thread("punctual-passwords");
  private final ThreadPoolExecutor ofKnown = thread("punctual-passwords-known");
  private final SecretKeySpec key = randomKey();
  private final Map<String, CompletableFuture<Void>> looks = new ConcurrentHashMap<>();
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();
  // Guarded by this. Names and addresses, addresses; passwords by their keyed hash; addresses.
  private final Map<String, Failures> failures = bounded();
  private final Map<String, Long> right = bounded();
  private final Map<String, Long> known = bounded();

  private record Failures(int count, long first) {}

  /** What somebody says who logs in, and where that comes from. */
  private record Attempt(String name, String password, String address) {

    String who() {
      return name + "@" + address;
    }
  }

  /**
   * @param ticks monotonic ns
   */
  OperatorLogin(SecurityProperties properties, PasswordEncoder passwords, LongSupplier ticks) {
    this.properties = properties;
    this.passwords = passwords;
    this.ticks = ticks;
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

  private static <V> Map<String, V> bounded() {
    return new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
        return size() > MAX_KEPT;
      }
    };
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
      refuseGuessing(attempt.address(), FAILURES_OF_ADDRESS);
      failed(attempt.address(), FAILURES_OF_ADDRESS);
      throw new BadCredentialsException("the name or the password is wrong");
    }
    SecurityProperties.Operator operator = properties.operators().get(attempt.name());
    String hash = operator == null ? NOBODY : operator.password();
    String mark = mark(attempt, hash);
    // Who is shut out stays so, whatever was right before.
    refuseGuessing(attempt);
    if (!isRemembered(mark, attempt.who())) {
      look(attempt, operator != null, hash, mark);
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

  private void look(Attempt attempt, boolean exists, String hash, String mark) {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<Void> before = looks.putIfAbsent(mark, mine);
    if (before == null) {
      begin(attempt, exists, hash, mark, mine);
    }
    try {
      (before == null ? mine : before).get();
    } catch (ExecutionException e) {
      // A new one for each of those who share it.
      if (e.getCause() instanceof TooManyFailuresException failed) {
        throw new TooManyFailuresException(failed.pause());
      }
      if (!(e.getCause() instanceof AuthenticationException)) {
        throw new UndecidedException("the password could not be checked", e);
      }
      throw new BadCredentialsException("the name or the password is wrong");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UndecidedException("this scheduler ends", e);
    }
  }

  private void begin(
      Attempt attempt, boolean exists, String hash, String mark, CompletableFuture<Void> answer) {
    String address = attempt.address();
    try {
      if (waiting.merge(address, 1, Integer::sum) > MAX_WAITING_OF_ADDRESS) {
        throw new RejectedExecutionException();
      }
      (isKnown(address) ? ofKnown : ofStrangers)
          .execute(
              () -> {
                try {
                  decide(attempt, exists, hash, mark);
                  over(address, mark);
                  answer.complete(null);
                } catch (Throwable e) {
                  // Also an Error: callers that share this look wait for its end.
                  over(address, mark);
                  answer.completeExceptionally(e);
                }
              });
    } catch (RejectedExecutionException e) {
      over(address, mark);
      answer.completeExceptionally(new TooManyFailuresException(Duration.ofSeconds(2)));
    }
  }

  private void over(String address, String mark) {
    waiting.computeIfPresent(address, (any, count) -> count == 1 ? null : count - 1);
    looks.remove(mark);
  }

  // One after the other for one address, so that many guesses at once are no more than one by one.
  private void decide(Attempt attempt, boolean exists, String hash, String mark) {
    refuseGuessing(attempt);
    if (!matches(attempt.password(), hash) || !exists) {
      // Also for a name that nobody has: it must not be told from one that somebody has. By
      // address,
      // so that a stranger cannot shut an operator out.
      failed(attempt.who(), FAILURES);
      failed(attempt.address(), FAILURES_OF_ADDRESS);
      throw new BadCredentialsException("wrong");
    }
    remember(attempt, mark);
  }

  private boolean matches(String password, String hash) {
    try {
      return passwords.matches(password, hash);
    } catch (IllegalArgumentException e) {
      // Not even a password: longer than any that was ever hashed.
      return false;
    }
  }

  private synchronized boolean isRemembered(String mark, String who) {
    Long until = right.get(mark);
    if (until == null || until - ticks.getAsLong() <= 0) {
      return false;
    }
    failures.remove(who);
    return true;
  }

  private synchronized boolean isKnown(String address) {
    Long until = known.get(address);
    return until != null && until - ticks.getAsLong() > 0;
  }

  private synchronized void remember(Attempt attempt, String mark) {
    failures.remove(attempt.who());
    right.put(mark, ticks.getAsLong() + REMEMBERED.toNanos());
    known.put(attempt.address(), ticks.getAsLong() + KNOWN.toNanos());
  }

  private void refuseGuessing(Attempt attempt) {
    refuseGuessing(attempt.who(), FAILURES);
    refuseGuessing(attempt.address(), FAILURES_OF_ADDRESS);
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
}
