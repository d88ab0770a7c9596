package io.punctual.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.registry.RegistryLogin.TooManyGuessesException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

class RegistryLoginTest {

  private static final String RIGHT = Registry.PASSWORD;
  private static final String STRANGER = "192.0.2.1";
  private static final String OTHER = "192.0.2.2";

  private final AtomicLong ticks = new AtomicLong(Long.MAX_VALUE - 5);
  private final RegistryLogin login =
      new RegistryLogin(new RegistryProperties(RIGHT), new SecretEncoder(), ticks::get);

  private ThrowingCallable attempt(String address, String name, String password) {
    UsernamePasswordAuthenticationToken token =
        UsernamePasswordAuthenticationToken.unauthenticated(name, password);
    token.setDetails(new WebAuthenticationDetails(address, null));
    return () -> login.authenticate(token);
  }

  private ThrowingCallable attempt(String address, String password) {
    return attempt(address, "punctual", password);
  }

  private void guess(String address, int guesses) {
    for (int i = 0; i < guesses; i++) {
      assertThatThrownBy(attempt(address, "guess-" + i))
          .isInstanceOf(BadCredentialsException.class);
    }
  }

  private void pass(int seconds) {
    ticks.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  @Test
  void theNameAndThePasswordAreTakenTogether() {
    assertThatCode(attempt(STRANGER, RIGHT)).doesNotThrowAnyException();
    assertThatThrownBy(attempt(STRANGER, "other", RIGHT))
        .isInstanceOf(BadCredentialsException.class);
    assertThatThrownBy(attempt(STRANGER, "", "punctual:" + RIGHT))
        .isInstanceOf(BadCredentialsException.class);
  }

  @Test
  void anAddressThatGuessesIsRefusedForAMinute() {
    guess(STRANGER, RegistryLogin.GUESSES);

    assertThatThrownBy(attempt(STRANGER, RIGHT)).isInstanceOf(TooManyGuessesException.class);
    pass(59);
    assertThatThrownBy(attempt(STRANGER, RIGHT))
        .isInstanceOfSatisfying(
            TooManyGuessesException.class,
            e -> assertThat(e.pause().toSeconds()).isBetween(0L, 1L));
    pass(1);
    assertThatCode(attempt(STRANGER, RIGHT)).doesNotThrowAnyException();
  }

  @Test
  void namesAreGuessedAsPasswordsAre() {
    for (int i = 0; i < RegistryLogin.GUESSES; i++) {
      assertThatThrownBy(attempt(STRANGER, "name-" + i, RIGHT))
          .isInstanceOf(BadCredentialsException.class);
    }
    assertThatThrownBy(attempt(STRANGER, RIGHT)).isInstanceOf(TooManyGuessesException.class);
  }

  @Test
  void otherAddressesDoNotNotice() {
    guess(STRANGER, RegistryLogin.GUESSES);

    assertThatCode(attempt(OTHER, RIGHT)).doesNotThrowAnyException();
  }

  @Test
  void anApplicationWithAnOldPasswordGuessesNothing() {
    for (int i = 0; i < 100; i++) {
      assertThatThrownBy(attempt(STRANGER, "old")).isInstanceOf(BadCredentialsException.class);
      pass(5);
    }
    assertThatCode(attempt(STRANGER, RIGHT)).doesNotThrowAnyException();
  }

  @Test
  void anApplicationBesideOneThatGuessesKeepsItsAccess() {
    assertThatCode(attempt(STRANGER, RIGHT)).doesNotThrowAnyException();
    guess(STRANGER, RegistryLogin.GUESSES);

    assertThatThrownBy(attempt(STRANGER, "guess")).isInstanceOf(TooManyGuessesException.class);
    assertThatCode(attempt(STRANGER, RIGHT)).doesNotThrowAnyException();
  }

  @Test
  void anAddressIsForgottenAfterADay() {
    assertThatCode(attempt(STRANGER, RIGHT)).doesNotThrowAnyException();
    pass(24 * 3600);
    guess(STRANGER, RegistryLogin.GUESSES);

    assertThatThrownBy(attempt(STRANGER, RIGHT)).isInstanceOf(TooManyGuessesException.class);
  }
}
