package io.punctual.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

class OperatorLoginTest {

  private static final String PASSWORD = "correct horse battery";

  private long now;
  private final OperatorLogin login =
      new OperatorLogin(
          new SecurityProperties(
              List.of(),
              Map.of(
                  "ada",
                  new SecurityProperties.Operator(
                      "{bcrypt}" + new BCryptPasswordEncoder(4).encode(PASSWORD), Role.ADMIN)),
              List.of(),
              new SecurityProperties.Jwt("scope", "client_id")),
          PasswordEncoderFactories.createDelegatingPasswordEncoder(),
          () -> now);

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
            e -> assertThat(e.pause()).isBetween(Duration.ZERO, OperatorLogin.PAUSE));
  }

  @Test
  void fiveWrongPasswordsAreAPauseForThatNameFromThatAddress() {
    for (String name : List.of("ada", "nobody")) {
      for (int i = 0; i < OperatorLogin.FAILURES; i++) {
        fails(name, "10.0.0.1");
      }
      isRefused(name, PASSWORD, "10.0.0.1");
    }
    // Nobody else is shut out, least of all the operator.
    assertThat(login("ada", PASSWORD, "10.0.0.2").getName()).isEqualTo("ada");
    fails("bob", "10.0.0.1");

    now += OperatorLogin.PAUSE.toNanos();
    assertThat(login("ada", PASSWORD, "10.0.0.1").getName()).isEqualTo("ada");
  }

  @Test
  void wrongPasswordsAreForgottenAfterARightOneAndAfterAWhile() {
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < OperatorLogin.FAILURES - 1; i++) {
        fails("ada", "10.0.0.1");
      }
      login("ada", PASSWORD, "10.0.0.1");
    }
    for (int i = 0; i < OperatorLogin.FAILURES - 1; i++) {
      fails("ada", "10.0.0.1");
    }
    now += OperatorLogin.PAUSE.toNanos() + 1;
    fails("ada", "10.0.0.1");
    login("ada", PASSWORD, "10.0.0.1");
  }

  @Test
  void whoInventsNamesIsRefusedByAddress() {
    for (int i = 0; i < OperatorLogin.FAILURES_OF_ADDRESS; i++) {
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
}
