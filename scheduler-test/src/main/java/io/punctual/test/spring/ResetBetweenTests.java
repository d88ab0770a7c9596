package io.punctual.test.spring;

import io.punctual.test.TestScheduler;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Lets each test begin with an empty scheduler, since tests share their application. */
final class ResetBetweenTests implements TestExecutionListener, Ordered {

  /** Behind the one that injects, which makes the application; before those with SQL. */
  private static final int ORDER = 2_100;

  @Override
  public void beforeTestMethod(TestContext test) {
    if (test.hasApplicationContext()) {
      test.getApplicationContext()
          .getBeanProvider(TestScheduler.class)
          .ifUnique(TestScheduler::reset);
    }
  }

  @Override
  public int getOrder() {
    return ORDER;
  }
}
