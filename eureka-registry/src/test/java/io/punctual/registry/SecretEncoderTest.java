package io.punctual.registry;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SecretEncoderTest {

  @Test
  void theSameTextMatchesAndNoOther() {
    SecretEncoder encoder = new SecretEncoder();
    String encoded = encoder.encode("correct horse");

    assertThat(encoder.matches("correct horse", encoded)).isTrue();
    assertThat(encoder.matches("correct hors", encoded)).isFalse();
    assertThat(encoder.matches("", encoded)).isFalse();
    assertThat(encoder.matches(null, encoded)).isFalse();
    assertThat(encoder.matches("correct horse", null)).isFalse();
    assertThat(encoder.matches("correct horse", "")).isFalse();
  }

  @Test
  void whatIsKeptDoesNotShowThePasswordAndIsAnotherAtEachStart() {
    String encoded = new SecretEncoder().encode("correct horse");

    assertThat(encoded).doesNotContain("correct").hasSize(64);
    assertThat(new SecretEncoder().encode("correct horse")).isNotEqualTo(encoded);
  }
}
