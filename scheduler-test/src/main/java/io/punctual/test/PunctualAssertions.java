package io.punctual.test;

/**
 * Where assertions about a {@link TestScheduler} begin. Needs AssertJ; goes together with a static
 * import of AssertJ's own {@code assertThat}.
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
