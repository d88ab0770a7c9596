package io.punctual.spring.autoconfigure;

import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;

/**
 * Stops an application on Spring Boot 3 with a sentence, before beans are made: what fails there
 * names neither Punctual nor Spring Boot. Uses only what both versions of Spring Boot have.
 */
public final class SpringBootCheck
    implements ApplicationContextInitializer<ConfigurableApplicationContext>, Ordered {

  private static final int NEEDED = 4;

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    check(SpringBootVersion.getVersion());
  }

  static void check(String version) {
    int dot = version.indexOf('.');
    String major = dot < 0 ? version : version.substring(0, dot);
    if (major.matches("\\d{1,4}") && Integer.parseInt(major) < NEEDED) {
      throw new SpringBootVersionException(version);
    }
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
