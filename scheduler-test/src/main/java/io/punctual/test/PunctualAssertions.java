package io.punctual.test;

/**
 * Starts assertions about a {@link TestScheduler}. Needs AssertJ. Import it statically, beside
 * AssertJ's own {@code assertThat}.
 *
 * <pre>{@code
 * assertThat(scheduler).of("order.close").hasOne().dueIn(Duration.ofMinutes(30)).withParams("1001");
 * }</pre>
 */
public final class PunctualAssertions {

  private PunctualAssertions() {}

  /** About the jobs of a scheduler. */
  public static SchedulerAssert assertThat(TestScheduler actual) {
    return new SchedulerAssert(actual);
  }
}
