package io.punctual.test.junit;

import io.punctual.test.TestScheduler;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.springframework.beans.BeansException;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** What needs Spring's classes; loaded for Spring tests only. */
final class SpringTests {

  private SpringTests() {}

  static TestScheduler scheduler(ExtensionContext context) {
    try {
      return SpringExtension.getApplicationContext(context).getBean(TestScheduler.class);
    } catch (BeansException e) {
      throw new ParameterResolutionException(
          "The application of this test has no TestScheduler. Is punctual.test.enabled=false, or"
              + " auto-configuration switched off?",
          e);
    }
  }
}
