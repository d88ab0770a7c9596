package io.punctual.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

class OperatorLoginTest {

  private static final String PASSWORD = "correct horse battery";

  private final AtomicLong now = new AtomicLong();
  private volatile Callable<Void> slow = () -> null;
  private final OperatorLogin login =
      new OperatorLogin(
          new SecurityProperties(
              List.of(),
              Map.of(
                  "ada",
                  new SecurityProperties.Operator(
                      "{bcrypt}" + new BCryptPasswordEncoder(4).encode(PASSWORD), Role.ADMIN)),
              List.of()),
          new PasswordEncoder() {
            private final PasswordEncoder encoder =
                PasswordEncoderFactories.createDelegatingPasswordEncoder();

            @Override
            public String encode(@Nullable CharSequence password) {
              return String.valueOf(encoder.encode(password));
            }

            @Override
            public boolean matches(@Nullable CharSequence password, @Nullable String hash) {
              if ("slow".contentEquals(String.valueOf(password))) {
                try {
                  slow.call();
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              }
              return encoder.matches(password, hash);
            }
          },
          now::get);

  private Authentication login(String name, String password, String address) {
    MockHttpServletRequest request = new MockHttpServletRequest();
    request.setRemoteAddr(address);
    UsernamePasswordAuthenticationToken token =
        UsernamePasswordAuthenticationToken.unauthenticated(name, password);
    token.setDetails(new WebAuthenticationDetails(request));
    return login.authenticate(token);
  }

  private void fails(String name, String address) {
    assertThatThrownBy(() -> login(name, "wrong", address))
        .isInstanceOf(BadCredentialsException.class);
  }

  private void isRefused(String name, String password, String address) {
    assertThatThrownBy(() -> login(name, password, address))
        .isInstanceOfSatisfying(
            TooManyFailuresException.class,
            e -> assertThat(e.pause()).isBetween(Duration.ZERO, LoginThrottle.PAUSE));
  }

  @Test
  void namesThatAreTooLongAreRefusedAndCountForTheAddressAlone() {
    String name = "n".repeat(5_000);
    for (int i = 0; i < LoginThrottle.FAILURES_OF_ADDRESS; i++) {
      fails(name, "10.0.0.9");
    }
    isRefused(name, "wrong", "10.0.0.9");
    isRefused("ada", PASSWORD, "10.0.0.9");
    fails(name, "10.0.0.10");
  }

  @Test
  void aCheckThatEndsWithAnErrorLeavesNobodyWaiting() {
    slow =
        () -> {
          throw new IllegalStateException("a defect");
        };
    assertThatThrownBy(() -> login("ada", "slow", "10.0.0.11"))
        .isInstanceOf(UndecidedException.class);
    assertThat(login("ada", PASSWORD, "10.0.0.11").isAuthenticated()).isTrue();
  }

  @Test
  void fiveWrongPasswordsAreAPauseForThatNameFromThatAddress() {
    for (String name : List.of("ada", "nobody")) {
      for (int i = 0; i < LoginThrottle.FAILURES; i++) {
        fails(name, "10.0.0.1");
      }
      isRefused(name, PASSWORD, "10.0.0.1");
    }
    // Nobody else is shut out, least of all the operator.
    assertThat(login("ada", PASSWORD, "10.0.0.2").getName()).isEqualTo("ada");
    fails("bob", "10.0.0.1");

    now.addAndGet(LoginThrottle.PAUSE.toNanos());
    assertThat(login("ada", PASSWORD, "10.0.0.1").getName()).isEqualTo("ada");
  }

  @Test
  void wrongPasswordsAreForgottenAfterARightOneAndAfterAWhile() {
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < LoginThrottle.FAILURES - 1; i++) {
        fails("ada", "10.0.0.1");
      }
      login("ada", PASSWORD, "10.0.0.1");
    }
    for (int i = 0; i < LoginThrottle.FAILURES - 1; i++) {
      fails("ada", "10.0.0.1");
    }
    now.addAndGet(LoginThrottle.PAUSE.toNanos() + 1);
    fails("ada", "10.0.0.1");
    login("ada", PASSWORD, "10.0.0.1");
  }

  @Test
  void whoInventsNamesIsRefusedByAddress() {
    for (int i = 0; i < LoginThrottle.FAILURES_OF_ADDRESS; i++) {
      fails("name-" + i, "10.0.0.1");
    }
    isRefused("ada", PASSWORD, "10.0.0.1");
    assertThat(login("ada", PASSWORD, "10.0.0.2").getName()).isEqualTo("ada");
  }

  @Test
  void aPasswordThatNobodyCanHaveIsAWrongOne() {
    assertThatThrownBy(() -> login("ada", "x".repeat(100), "10.0.0.1"))
        .isInstanceOf(BadCredentialsException.class);
  }

  @Test
  void manyGuessesAtOnceAreNoMoreThanOneByOne() throws Exception {
    AtomicInteger looked = new AtomicInteger();
    List<Callable<Object>> guesses =
        IntStream.range(0, 40)
            .<Callable<Object>>mapToObj(
                i ->
                    () -> {
                      try {
                        return login("ada", "guess-" + i, "10.0.0.1");
                      } catch (BadCredentialsException e) {
                        return looked.incrementAndGet();
                      } catch (TooManyFailuresException e) {
                        return e;
                      }
                    })
            .toList();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Object> guess : threads.invokeAll(guesses)) {
        assertThat(guess.get()).isNotNull();
      }
    }
    assertThat(looked.get()).isBetween(1, LoginThrottle.FAILURES);
  }

  @Test
  void manyWithTheRightPasswordAtOnceAreAllLetIn() throws Exception {
    List<Callable<Authentication>> calls =
        Collections.nCopies(200, () -> login("ada", PASSWORD, "10.0.0.1"));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Authentication> call : threads.invokeAll(calls)) {
        assertThat(call.get().getName()).isEqualTo("ada");
      }
    }
  }

  @Test
  void strangersDoNotTakeTheTurnOfThoseWhoAreKnown() throws Exception {
    login("ada", PASSWORD, "10.0.0.1");
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    slow =
        () -> {
          begun.countDown();
          end.await();
          return null;
        };
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 100; i++) {
        String address = "10.1.0." + i;
        var unused = threads.submit(() -> login("ada", "slow", address));
      }
      begun.await();
      // Remembered; and then another one, which is looked at.
      assertThat(login("ada", PASSWORD, "10.0.0.1").getName()).isEqualTo("ada");
      fails("ada", "10.0.0.1");
      now.addAndGet(OperatorLogin.REMEMBERED.toNanos());
      assertThat(login("ada", PASSWORD, "10.0.0.1").getName()).isEqualTo("ada");
      end.countDown();
    }
  }

  @Test
  void whoIsShutOutIsSoWithARememberedPasswordToo() {
    login("ada", PASSWORD, "10.0.0.1");
    for (int i = 0; i < LoginThrottle.FAILURES; i++) {
      fails("ada", "10.0.0.1");
    }
    isRefused("ada", PASSWORD, "10.0.0.1");
  }
}
