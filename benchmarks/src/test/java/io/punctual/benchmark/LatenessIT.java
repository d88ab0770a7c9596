package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The benchmark itself works; how late jobs are on a busy machine is not judged. */
class LatenessIT {

  @Test
  void aShortRunMeasuresEveryJobOnce() throws Exception {
    Lateness.Result result =
        Lateness.measure(new Lateness.Options(50, 5, 1), Path.of("target", "lateness"));

    System.out.println(result.text());
    assertThat(result.sound()).as(result.accounting().toString()).isTrue();
    assertThat(result.lateness().count()).isGreaterThanOrEqualTo(250);
    assertThat(result.lateness().minMillis()).isNotNegative();
    assertThat(result.json()).contains("\"early\":0,\"missing\":0,\"twice\":0");
  }
}
