package io.punctual.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PasswordRuleTest {

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\t\n"})
  void anEmptyOneIsNotSet(String password) {
    assertThat(PasswordRule.violation(password)).hasValue("is not set");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "k3Jq9zW0xYb7Lm2", " k3Jq9zW0xYb7Lm2 ", "changeme", "admin"})
  void aShortOneIsTooShort(String password) {
    assertThat(PasswordRule.violation(password).orElseThrow()).contains("shorter than 16");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "changemechangeme",
        "change-me-change-me",
        "ChangeMe12345678",
        "please_changeme_p",
        "passwordpassword",
        "PASSWORD-0000000",
        "Password!!!!!!!!!!!!!",
        "administrator-admin",
        "secretsecretsecret",
        "default_token_default_token",
        "Default-Token-2026",
        "punctual-registry",
        "Punctual-Scheduler-2026",
        "punctual.registry.password",
        "aaaaaaaaaaaaaaaaaaaa",
        "1234567890123456",
        "0123456789abcdef",
        "qwertyuiop123456",
        "testtesttesttest",
      })
  void oneThatEverybodyTriesIsRefusedHoweverLong(String password) {
    assertThat(PasswordRule.violation(password).orElseThrow()).contains("everybody tries");
  }

  @Test
  void aVariableThatIsNotSetIsSaidToBe() {
    assertThat(PasswordRule.violation("${REGISTRY_PASSWORD}").orElseThrow()).contains("variable");
  }

  @Test
  void randomOnesAreTaken() {
    SecureRandom random = new SecureRandom();
    for (int i = 0; i < 10_000; i++) {
      byte[] bytes = new byte[16];
      random.nextBytes(bytes);
      assertThat(PasswordRule.violation(HexFormat.of().formatHex(bytes))).isEmpty();
      assertThat(PasswordRule.violation(Base64.getEncoder().encodeToString(bytes))).isEmpty();
    }
  }

  @Test
  void fourWordsAreTaken() {
    assertThat(PasswordRule.violation("correct horse battery staple")).isEmpty();
  }
}
