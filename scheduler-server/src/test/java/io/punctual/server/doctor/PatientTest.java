package io.punctual.server.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PatientTest {

  private final Doctor.Patient patient =
      new Doctor.Patient(
          new WorkerInstance(
              "worker-0",
              "shop",
              URI.create("http://worker-0/callback"),
              new WorkerMetadata(Set.of("job"), "/callback", WorkerMetadata.BATCH, 10)),
          0);

  @Test
  void oneThatIsAvoidedWhileItIsProbedIsProbedAgain() {
    assertThat(patient.isDue(0, false)).isTrue();
    patient.underWay = new Doctor.Probe(() -> {}, new CompletableFuture<>());
    assertThat(patient.isDue(1, true)).isFalse();

    // The probe found nothing wrong.
    patient.underWay = null;
    patient.againAt = null;

    assertThat(patient.isDue(2, true)).isTrue();
    assertThat(patient.isDue(3, true)).as("known by now").isFalse();
  }
}
