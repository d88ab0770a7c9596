package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.punctual.server.dispatch.callback.CallFailure;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyProofsTest {

  private static final CallbackKeys SIGNING =
      new CallbackKeys(
          application ->
              List.of(CallbackSignature.Key.derived("q8ZJ1n0LrXv4TtYw7uKcB2sM", application)),
          Set.of("trusting"));

  private final List<String> pinged = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private final Deque<Runnable> threads = new ArrayDeque<>();
  private PingResult.Signature signature = PingResult.Signature.RIGHT;
  private long now = 1;
  private final KeyProofs proofs = proofs(SIGNING);

  private KeyProofs proofs(CallbackKeys keys) {
    return new KeyProofs(keys, this::ping, threads::add, told::add, () -> now);
  }

  private PingResult ping(WorkerInstance instance) {
    pinged.add(instance.callback().getHost());
    return new PingResult.Answered(
        200, HttpHeaders.of(Map.of(), (name, value) -> true), "", signature, false, Instant.EPOCH);
  }

  private static WorkerInstance instance(String application, String host, String protocol) {
    return new WorkerInstance(
        "worker-" + host.charAt(0),
        application,
        URI.create("http://" + host + ":8080/callback"),
        new WorkerMetadata(Set.of("job"), "/callback", protocol, 10),
        "eureka");
  }

  private static WorkerInstance batch(String host) {
    return instance("shop", host, WorkerMetadata.BATCH);
  }

  private void run() {
    while (!threads.isEmpty()) {
      threads.remove().run();
    }
  }

  @Test
  void anInstanceGetsJobsOnceItHasAnsweredWithTheKey() {
    List<WorkerInstance> two = List.of(batch("a"), batch("b"));
    assertThat(proofs.proven(two)).isEmpty();
    threads.remove().run();

    assertThat(proofs.proven(two)).containsExactly(two.get(0));
    assertThat(told).containsExactly("shop");
    run();
    assertThat(proofs.proven(two)).isEqualTo(two);
    assertThat(pinged).containsExactly("a", "b");
  }

  @Test
  void oneForWhichThereWasNoThreadIsAskedAgain() {
    List<Runnable> begun = new ArrayList<>();
    int[] errors = {1};
    KeyProofs some =
        new KeyProofs(
            SIGNING,
            this::ping,
            task -> {
              if (errors[0]-- > 0) {
                throw new OutOfMemoryError("of the test");
              }
              begun.add(task);
            },
            told::add,
            () -> now);
    List<WorkerInstance> one = List.of(batch("a"));
    assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> some.proven(one));
    now += Duration.ofMinutes(1).toNanos();

    assertThat(some.proven(one)).isEmpty();
    assertThat(begun).hasSize(1);
    begun.get(0).run();
    assertThat(some.proven(one)).isEqualTo(one);
  }

  @Test
  void oneThatAnswersWithoutIsAskedAgainAndGetsNothing() {
    List<WorkerInstance> one = List.of(batch("a"));
    for (PingResult.Signature wrong :
        List.of(
            PingResult.Signature.MISSING,
            PingResult.Signature.WRONG,
            PingResult.Signature.NOT_WANTED)) {
      signature = wrong;
      assertThat(proofs.proven(one)).isEmpty();
      run();
      assertThat(proofs.proven(one)).isEmpty();
      assertThat(threads).as("not at once").isEmpty();
      now += Duration.ofSeconds(5).toNanos();
    }
    assertThat(pinged).hasSize(3);
    assertThat(told).isEmpty();
    signature = PingResult.Signature.RIGHT;
    proofs.ask(one);
    run();
    assertThat(proofs.proven(one)).isEqualTo(one);
  }

  @Test
  void oneThatIsNotReachedProvesNothing() {
    KeyProofs unreached =
        new KeyProofs(
            SIGNING,
            instance -> new PingResult.NoAnswer(CallFailure.REFUSED, null, false),
            threads::add,
            told::add,
            () -> now);
    unreached.ask(List.of(batch("a")));
    run();

    assertThat(unreached.proven(List.of(batch("a")))).isEmpty();
  }

  @Test
  void theSameNameAtAnotherAddressIsAnotherInstance() {
    proofs.ask(List.of(batch("a")));
    run();
    WorkerInstance moved = batch("a2");

    assertThat(proofs.proven(List.of(moved))).isEmpty();
    run();
    assertThat(proofs.proven(List.of(moved))).containsExactly(moved);
    assertThat(pinged).containsExactly("a", "a2");
  }

  @Test
  void whereNothingIsSignedAndInTheSingleProtocolNobodyIsAsked() {
    List<WorkerInstance> trusting = List.of(instance("trusting", "a", WorkerMetadata.BATCH));
    List<WorkerInstance> single = List.of(instance("shop", "a", WorkerMetadata.SINGLE));
    List<WorkerInstance> unsigned = List.of(batch("a"));

    assertThat(proofs.proven(trusting)).isEqualTo(trusting);
    assertThat(proofs.proven(single)).isEqualTo(single);
    assertThat(proofs(new CallbackKeys(application -> List.of(), Set.of())).proven(unsigned))
        .isEqualTo(unsigned);
    assertThat(threads).isEmpty();
  }

  @Test
  void fewOfAnApplicationAreAskedAtOnceAndThoseThatLeftAreForgotten() {
    List<WorkerInstance> many =
        List.of(batch("a"), batch("b"), batch("c"), batch("d"), batch("e"), batch("f"));
    proofs.ask(many);
    proofs.ask(many);
    assertThat(threads).hasSize(4);
    run();
    proofs.ask(many);
    run();
    assertThat(proofs.proven(many)).isEqualTo(many);

    proofs.tidy(application -> Set.of("worker-a"));

    assertThat(proofs.size()).isEqualTo(1);
  }
}
