package io.punctual.spring.autoconfigure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;

/**
 * Stops an application on another line of Spring Boot with a clear message, before beans are made:
 * later failures would name neither Punctual nor Spring Boot. Uses only classes that all lines
 * have.
 */
public final class SpringBootCheck
    implements ApplicationContextInitializer<ConfigurableApplicationContext>, Ordered {

  private static final Pattern NUMBER = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})");

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    check(SpringBootVersion.getVersion());
  }

  static void check(String version) {
    Matcher number = NUMBER.matcher(version);
    if (number.lookingAt()
        && !SpringBootLine.includes(
            Integer.parseInt(number.group(1)), Integer.parseInt(number.group(2)))) {
      throw new SpringBootVersionException(version);
    }
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
