package io.punctual.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;

class SpringBootCheckTest {

  @Test
  void olderVersionsThanFourAreRefused() {
    assertThatThrownBy(() -> SpringBootCheck.check("3.5.7"))
        .hasMessage(
            "This starter of Punctual is for Spring Boot 4; this application runs on Spring Boot 3.5.7.");
    assertThatThrownBy(() -> SpringBootCheck.check("2.7.18")).hasMessageContaining("2.7.18");
  }

  @Test
  void thisOneAndLaterOnesAreNot() {
    assertThatCode(() -> SpringBootCheck.check(SpringBootVersion.getVersion()))
        .doesNotThrowAnyException();
    assertThatCode(() -> SpringBootCheck.check("4.0.0-M1")).doesNotThrowAnyException();
    assertThatCode(() -> SpringBootCheck.check("10.1")).doesNotThrowAnyException();
    assertThatCode(() -> SpringBootCheck.check("unknown")).doesNotThrowAnyException();
  }
}
