package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.callback.CallFailure;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class KeyProofsTest {

  private static final CallbackKeys SIGNING =
      new CallbackKeys(
          application ->
              List.of(CallbackSignature.Key.derived("q8ZJ1n0LrXv4TtYw7uKcB2sM", application)),
          Set.of("trusting"));

  private final KeyProofs proofs = new KeyProofs(SIGNING);

  private static PingResult answered(PingResult.Signature signature) {
    return new PingResult.Answered(
        200, HttpHeaders.of(Map.of(), (name, value) -> true), "", signature, false, Instant.EPOCH);
  }

  private static WorkerInstance instance(
      String application, String host, String protocol, String source) {
    return new WorkerInstance(
        "worker-" + host.charAt(0),
        application,
        URI.create("http://" + host + ":8080/callback"),
        new WorkerMetadata(Set.of("job"), "/callback", protocol, 10),
        source);
  }

  private static WorkerInstance batch(String host) {
    return instance("shop", host, WorkerMetadata.BATCH, "eureka");
  }

  private boolean proves(WorkerInstance instance) {
    return proofs.pinged(instance, answered(PingResult.Signature.RIGHT));
  }

  @Test
  void anInstanceGetsJobsOnceItHasAnsweredWithTheKey() {
    List<WorkerInstance> two = List.of(batch("a"), batch("b"));
    assertThat(proofs.proven(two)).isEmpty();

    assertThat(proves(two.get(0))).isTrue();

    assertThat(proofs.proven(two)).containsExactly(two.get(0));
    assertThat(proves(two.get(0))).as("the first proof").isFalse();
    assertThat(proves(two.get(1))).isTrue();
    assertThat(proofs.proven(two)).isEqualTo(two);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "RIGHT")
  void oneThatAnswersWithoutGetsNothing(PingResult.Signature signature) {
    assertThat(proofs.pinged(batch("a"), answered(signature))).isFalse();
    assertThat(proofs.isProven(batch("a"))).isFalse();
  }

  @Test
  void oneThatIsNotReachedProvesNothingAndKeepsItsProof() {
    PingResult none = new PingResult.NoAnswer(CallFailure.REFUSED, null, false);
    assertThat(proofs.pinged(batch("a"), none)).isFalse();
    assertThat(proofs.isProven(batch("a"))).isFalse();
    assertThat(proves(batch("a"))).isTrue();

    assertThat(proofs.pinged(batch("a"), none)).isFalse();

    assertThat(proofs.isProven(batch("a"))).isTrue();
  }

  @Test
  void theSameNameAtAnotherAddressIsAnotherInstance() {
    assertThat(proves(batch("a"))).isTrue();
    assertThat(proofs.isProven(batch("a2"))).isFalse();
  }

  /** An instance chooses its protocol itself, and may choose how it is registered. */
  @ParameterizedTest
  @CsvSource({"single, eureka", "single, scheduler", "batch, eureka", "batch, scheduler"})
  void eachProtocolNeedsAProofInEachWayOfRegistration(String protocol, String source) {
    WorkerInstance instance = instance("shop", "a", protocol, source);
    assertThat(proofs.isProven(instance)).isFalse();

    assertThat(proves(instance)).isTrue();

    assertThat(proofs.isProven(instance)).isTrue();
    KeyProofs unsigned = new KeyProofs(new CallbackKeys(application -> List.of(), Set.of()));
    assertThat(unsigned.isProven(instance)).as("where nothing is signed").isTrue();
    assertThat(proofs.isProven(instance("trusting", "a", protocol, source)))
        .as("of an application whose workers do not sign")
        .isTrue();
  }

  @Test
  void instancesThatLeftAreForgotten() {
    assertThat(proves(batch("a"))).isTrue();
    assertThat(proves(batch("b"))).isTrue();

    proofs.retain(() -> List.of(batch("a")));

    assertThat(proofs.size()).isOne();
    assertThat(proofs.isProven(batch("a"))).isTrue();
  }

  @Test
  void aProofThatComesWhileTheInstancesAreReadIsKept() {
    proofs.retain(
        () -> {
          assertThat(proves(batch("a"))).isTrue();
          return List.of();
        });

    assertThat(proofs.isProven(batch("a"))).isTrue();
  }
}
