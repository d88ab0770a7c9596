package io.punctual.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;

class SpringBootCheckTest {

  @Test
  void olderAndNewerVersionsAreRefused() {
    assertThatThrownBy(() -> SpringBootCheck.check("4.1.0"))
        .hasMessage(
            "This starter of Punctual is for Spring Boot 3.5; this application runs on Spring Boot"
                + " 4.1.0.");
    assertThatThrownBy(() -> SpringBootCheck.check("3.4.9")).hasMessageContaining("3.4.9");
    assertThatThrownBy(() -> SpringBootCheck.check("2.7.18")).hasMessageContaining("2.7.18");
  }

  @Test
  void thisOneIsNot() {
    assertThatCode(() -> SpringBootCheck.check(SpringBootVersion.getVersion()))
        .doesNotThrowAnyException();
    assertThatCode(() -> SpringBootCheck.check("3.5.0")).doesNotThrowAnyException();
    assertThatCode(() -> SpringBootCheck.check("unknown")).doesNotThrowAnyException();
  }
}
