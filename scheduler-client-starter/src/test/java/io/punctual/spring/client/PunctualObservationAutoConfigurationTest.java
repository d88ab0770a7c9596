package io.punctual.spring.client;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.tck.TestObservationRegistry;
import io.punctual.DelayQueueJob;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.client.lease.JobLease;
import io.punctual.client.run.JobRunner;
import io.punctual.internal.AttemptObservations;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.autoconfigure.PunctualObservationAutoConfiguration;
import io.punctual.spring.observation.DefaultJobInvokeObservationConvention;
import io.punctual.spring.observation.DefaultJobSubmitObservationConvention;
import io.punctual.spring.observation.JobInvokeObservationConvention;
import io.punctual.spring.observation.JobInvokeTracingHandler;
import io.punctual.spring.observation.JobSubmitObservationConvention;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

class PunctualObservationAutoConfigurationTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  PunctualClientAutoConfiguration.class,
                  PunctualObservationAutoConfiguration.class))
          .withPropertyValues("spring.application.name=shop");

  private final ApplicationContextRunner observed =
      application
          .withBean(TestObservationRegistry.class, TestObservationRegistry::create)
          .withBean(Closer.class);

  @Test
  void whereTheApplicationObservesItsJobsAreObserved() {
    observed
        .withPropertyValues("punctual.delivery=pull")
        .run(
            context -> {
              use(context);
              assertThat(context).doesNotHaveBean(JobInvokeTracingHandler.class);
              assertThat(context.getBean(TestObservationRegistry.class))
                  .hasObservationWithNameEqualTo("punctual.client.submit")
                  .that()
                  .hasLowCardinalityKeyValue("outcome", "created");
              assertThat(context.getBean(TestObservationRegistry.class))
                  .hasObservationWithNameEqualTo("punctual.client.invoke")
                  .that()
                  .hasLowCardinalityKeyValue("delivery", "pull");
            });
  }

  @Test
  void conventionsThatAreBeansNameThem() {
    observed
        .withBean(
            JobSubmitObservationConvention.class,
            () ->
                new DefaultJobSubmitObservationConvention() {
                  @Override
                  public String getName() {
                    return "shop.send";
                  }
                })
        .withBean(
            JobInvokeObservationConvention.class,
            () ->
                new DefaultJobInvokeObservationConvention() {
                  @Override
                  public String getName() {
                    return "shop.work";
                  }
                })
        .run(
            context -> {
              use(context);
              assertThat(context.getBean(TestObservationRegistry.class))
                  .hasNumberOfObservationsEqualTo(2)
                  .hasNumberOfObservationsWithNameEqualTo("shop.send", 1)
                  .hasNumberOfObservationsWithNameEqualTo("shop.work", 1);
            });
  }

  @Test
  void whereItDoesNotNothingIsMade() {
    application.run(PunctualObservationAutoConfigurationTest::unobserved);
    observed
        .withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(PunctualObservationAutoConfigurationTest::unobserved);
  }

  private static void unobserved(AssertableApplicationContext context) {
    assertThat(context)
        .hasSingleBean(TaskSubmitService.class)
        .hasSingleBean(JobRunner.class)
        .doesNotHaveBean(SubmitObservations.class)
        .doesNotHaveBean(AttemptObservations.class);
  }

  private static final class Closer implements TaskWorker {

    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String params) {}
  }

  private static final class Unasked implements JobLease {

    @Override
    public void extend(Duration timeToRun) {}

    @Override
    public String defer(Duration within) {
      return "handle";
    }

    @Override
    public void remind(Duration timeToRun) {}

    @Override
    public void onLost(Runnable action) {}
  }

  private static void use(ApplicationContext context) {
    var unused =
        context
            .getBean(SubmitObservations.class)
            .send(
                DelayQueueJob.of("order.close").delay(Duration.ZERO).build(),
                job ->
                    new SubmitResult(
                        job.taskId(), Instant.EPOCH, SubmitResult.Outcome.CREATED, 1, ""));
    CallbackResult result =
        context
            .getBean(JobRunner.class)
            .run(
                new CallbackRequest.Job(
                    "1", "order.close", "i", 1, 1, 1, 1, null, 60_000, "", Map.of(), null),
                new Unasked())
            .join();
    assertThat(result.outcome()).isEqualTo(CallbackResult.DONE);
  }
}
