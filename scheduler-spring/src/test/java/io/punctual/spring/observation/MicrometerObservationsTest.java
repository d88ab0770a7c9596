package io.punctual.spring.observation;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.RejectTaskException;
import io.punctual.SubmitResult;
import io.punctual.SubmitResult.Outcome;
import io.punctual.internal.AttemptObservations;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MicrometerObservationsTest {

  private static final String SUBMIT = "punctual.client.submit";
  private static final String INVOKE = "punctual.client.invoke";

  private final TestObservationRegistry registry = TestObservationRegistry.create();
  private final MicrometerSubmitObservations submits =
      new MicrometerSubmitObservations(registry, null);
  private final MicrometerAttemptObservations attempts =
      new MicrometerAttemptObservations(registry, null);

  @Test
  void aSendHasItsNameAndKeyValues() {
    SubmitResult result =
        submits.send(
            job("order.close", "1"),
            job -> {
              assertThat(registry.getCurrentObservation()).isNotNull();
              return result(job, Outcome.ALREADY_THERE);
            });

    assertThat(result.outcome()).isEqualTo(Outcome.ALREADY_THERE);
    assertThat(registry)
        .hasSingleObservationThat()
        .hasNameEqualTo(SUBMIT)
        .hasContextualNameEqualTo("send order.close")
        .hasLowCardinalityKeyValue("task.type", "order.close")
        .hasLowCardinalityKeyValue("outcome", "already_there")
        .hasHighCardinalityKeyValue("messaging.system", "punctual")
        .hasHighCardinalityKeyValue("messaging.operation.type", "send")
        .hasHighCardinalityKeyValue("messaging.operation.name", "send")
        .hasHighCardinalityKeyValue("messaging.destination.name", "order.close")
        .hasHighCardinalityKeyValue("messaging.message.id", "1")
        .doesNotHaveError()
        .hasBeenStarted()
        .hasBeenStopped();
    assertThat(registry).doesNotHaveAnyRemainingCurrentObservation();
  }

  @Test
  void aSendThatFailsIsAnError() {
    InvalidJobException refused = new InvalidJobException("params are too long");

    assertThatThrownBy(
            () ->
                submits.send(
                    job("order.close", "1"),
                    job -> {
                      throw refused;
                    }))
        .isSameAs(refused);

    assertThat(registry)
        .hasSingleObservationThat()
        .hasLowCardinalityKeyValue("outcome", "failed")
        .hasError(refused)
        .hasBeenStopped();
  }

  @Test
  void aSendOfManyIsOneObservation() {
    List<DelayQueueJob> jobs = List.of(job("order.close", "1"), job("order.close", "2"));

    assertThat(sendAll(jobs, Outcome.CREATED, Outcome.CREATED)).hasSize(2);

    assertThat(registry)
        .hasSingleObservationThat()
        .hasContextualNameEqualTo("send order.close")
        .hasLowCardinalityKeyValue("task.type", "order.close")
        .hasLowCardinalityKeyValue("outcome", "created")
        .hasHighCardinalityKeyValue("messaging.batch.message_count", "2")
        .doesNotHaveHighCardinalityKeyValueWithKey("messaging.message.id");
  }

  @Test
  void whatDiffersWithinASendOfManyIsMixed() {
    var unused =
        sendAll(
            List.of(job("order.close", "1"), job("order.remind", "2")),
            Outcome.CREATED,
            Outcome.ALREADY_THERE);

    assertThat(registry)
        .hasSingleObservationThat()
        .hasContextualNameEqualTo("send")
        .hasLowCardinalityKeyValue("task.type", "mixed")
        .hasLowCardinalityKeyValue("outcome", "mixed")
        .doesNotHaveHighCardinalityKeyValueWithKey("messaging.destination.name");
  }

  @Test
  void oneOfManyThatIsRefusedIsAnError() {
    JobConflictException conflict =
        new JobConflictException("it is another one", List.of("params"));

    List<BatchItem> items =
        submits.sendAll(
            List.of(job("order.close", "1"), job("order.close", "2")),
            jobs ->
                List.of(
                    new BatchItem("1", result(jobs.get(0), Outcome.CREATED), null),
                    new BatchItem("2", null, conflict)));

    assertThat(items).hasSize(2);
    assertThat(registry)
        .hasSingleObservationThat()
        .hasLowCardinalityKeyValue("outcome", "failed")
        .hasError(conflict);
  }

  @Test
  void nothingThatIsSentIsNoObservation() {
    assertThat(sendAll(List.of())).isEmpty();

    assertThat(registry).doesNotHaveAnyObservation();
  }

  @Test
  void theTraceAndNoOtherHeaderGoesWithTheJob() {
    registry
        .observationConfig()
        .observationHandler(
            new ObservationHandler<JobSubmitContext>() {
              @Override
              public void onStart(JobSubmitContext context) {
                for (String name : List.of("traceparent", "tracestate", "baggage")) {
                  context.getSetter().set(context.getCarrier(), name, name + " of the submit");
                }
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return context instanceof JobSubmitContext;
              }
            });
    DelayQueueJob own =
        DelayQueueJob.of("t").delay(Duration.ZERO).header("traceparent", "its own").build();
    List<DelayQueueJob> sent = new ArrayList<>();

    var unused =
        submits.sendAll(
            List.of(job("t", "1"), own),
            jobs -> {
              sent.addAll(jobs);
              return List.of();
            });

    assertThat(sent.get(0).headers())
        .containsExactlyEntriesOf(Map.of("traceparent", "traceparent of the submit"));
    assertThat(sent.get(0).taskId()).isEqualTo("1");
    assertThat(sent.get(1)).isSameAs(own);
  }

  @Test
  void anAttemptHasItsNameAndKeyValues() {
    AttemptObservations.Observed observed =
        attempts.started("pull", "order.close", "1", 2, Map.of("source", "web"));
    assertThat(registry.getCurrentObservation()).isNotNull();
    observed.ended(null, false);

    assertThat(registry)
        .hasSingleObservationThat()
        .hasNameEqualTo(INVOKE)
        .hasContextualNameEqualTo("process order.close")
        .hasLowCardinalityKeyValue("task.type", "order.close")
        .hasLowCardinalityKeyValue("outcome", "done")
        .hasLowCardinalityKeyValue("delivery", "pull")
        .hasHighCardinalityKeyValue("messaging.system", "punctual")
        .hasHighCardinalityKeyValue("messaging.operation.type", "process")
        .hasHighCardinalityKeyValue("messaging.operation.name", "process")
        .hasHighCardinalityKeyValue("messaging.destination.name", "order.close")
        .hasHighCardinalityKeyValue("messaging.message.id", "1")
        .hasHighCardinalityKeyValue("punctual.attempt", "2")
        .hasBeenStopped();
    assertThat(registry).doesNotHaveAnyRemainingCurrentObservation();
  }

  @Test
  void whatTheWorkerThrowsIsTheErrorOfTheAttempt() {
    RejectTaskException thrown = new RejectTaskException("no such order");

    attempts.started("pull", "order.close", "1", 1, Map.of()).ended(thrown, false);

    assertThat(registry)
        .hasSingleObservationThat()
        .hasLowCardinalityKeyValue("outcome", "rejected")
        .hasError(thrown);
  }

  @Test
  void anAttemptLeavesItsThreadAndEntersAnother() throws Exception {
    AttemptObservations.Observed observed =
        attempts.started("pull", "order.close", "1", 1, Map.of());
    Observation own = registry.getCurrentObservation();
    observed.leave();
    assertThat(registry.getCurrentObservation()).isNull();
    List<@Nullable Observation> there = new ArrayList<>();
    Thread other =
        new Thread(
            () -> {
              observed.enter();
              there.add(registry.getCurrentObservation());
              observed.ended(null, true);
              there.add(registry.getCurrentObservation());
            });
    other.start();
    other.join();

    assertThat(there).containsExactly(own, null);
    assertThat(registry)
        .hasSingleObservationThat()
        .hasLowCardinalityKeyValue("outcome", "deferred")
        .hasBeenStopped();
  }

  @Test
  void aConventionOfTheApplicationNamesThem() {
    MicrometerSubmitObservations named =
        new MicrometerSubmitObservations(
            registry,
            new DefaultJobSubmitObservationConvention() {
              @Override
              public String getName() {
                return "shop.send";
              }

              @Override
              public KeyValues getLowCardinalityKeyValues(JobSubmitContext context) {
                return super.getLowCardinalityKeyValues(context).and("region", "north");
              }
            });

    var unused = named.send(job("order.close", "1"), job -> result(job, Outcome.CREATED));

    assertThat(registry)
        .hasSingleObservationThat()
        .hasNameEqualTo("shop.send")
        .hasLowCardinalityKeyValue("region", "north")
        .hasLowCardinalityKeyValue("outcome", "created");
  }

  @Test
  void aGlobalConventionOfTheRegistryNamesThem() {
    registry.observationConfig().observationConvention(new Global());

    attempts.started("pull", "order.close", "1", 1, Map.of()).ended(null, false);

    assertThat(registry).hasSingleObservationThat().hasNameEqualTo("shop.work");
  }

  @Test
  void aConventionThatFailsKeepsNothingFromBeingSentOrRun() {
    MicrometerSubmitObservations broken =
        new MicrometerSubmitObservations(
            registry,
            new DefaultJobSubmitObservationConvention() {
              @Override
              public KeyValues getLowCardinalityKeyValues(JobSubmitContext context) {
                throw new IllegalStateException("a convention that fails");
              }
            });

    assertThat(broken.send(job("t", "1"), job -> result(job, Outcome.CREATED)).outcome())
        .isEqualTo(Outcome.CREATED);
    assertThat(registry.getCurrentObservation()).isNull();
  }

  @Test
  void withoutAnybodyWhoWatchesNothingIsMade() {
    DelayQueueJob job = job("order.close", "1");

    SubmitResult unused =
        new MicrometerSubmitObservations(ObservationRegistry.NOOP, null)
            .send(
                job,
                sent -> {
                  assertThat(sent).isSameAs(job);
                  return result(sent, Outcome.CREATED);
                });

    assertThat(
            new MicrometerAttemptObservations(ObservationRegistry.create(), null)
                .started("push", "order.close", "1", 1, Map.of()))
        .isSameAs(AttemptObservations.UNOBSERVED);
  }

  private List<BatchItem> sendAll(List<DelayQueueJob> jobs, Outcome... outcomes) {
    return submits.sendAll(
        jobs,
        sent -> {
          List<BatchItem> items = new ArrayList<>();
          for (int i = 0; i < sent.size(); i++) {
            items.add(new BatchItem(sent.get(i).taskId(), result(sent.get(i), outcomes[i]), null));
          }
          return items;
        });
  }

  private static DelayQueueJob job(String type, String id) {
    return DelayQueueJob.of(type).taskId(id).delay(Duration.ZERO).build();
  }

  private static SubmitResult result(DelayQueueJob job, Outcome outcome) {
    return new SubmitResult(job.taskId(), Instant.EPOCH, outcome, 1, "");
  }

  private static final class Global
      implements JobInvokeObservationConvention, GlobalObservationConvention<JobInvokeContext> {
    @Override
    public String getName() {
      return "shop.work";
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return context instanceof JobInvokeContext;
    }
  }
}
