package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginTest {

  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @ParameterizedTest
  @CsvSource({
    "shop/k3vq, shop/k3vq",
    "anna, anna",
    "an na:x&, an_na:x&",
    "änna, _nna",
  })
  void aSubmitterIsKeptAsFarAsItFits(String given, String kept) {
    assertThat(Origin.of(Map.of(), given)).isEqualTo(new Origin(null, kept));
  }

  @Test
  void aSubmitterIsCut() {
    assertThat(Origin.of(Map.of(), "x".repeat(500)).submitter()).isEqualTo("x".repeat(64));
  }

  @Test
  void aTraceIsNoContentAndComesBackAsAHeader() {
    Map<String, String> headers = Map.of("a", "b", "traceparent", TRACE);
    Origin origin = Origin.of(headers, null);
    assertThat(origin).isEqualTo(new Origin(TRACE, null));
    assertThat(Origin.withoutTrace(headers)).isEqualTo(Map.of("a", "b"));

    JobContent content = JobContent.of(Due.in(0)).headers(Origin.withoutTrace(headers)).build();
    JobRecord record =
        new JobRecord("i", 1, 0, 0, origin, List.of(), JobContentCodec.encode(content));
    assertThat(record.read().headers()).isEqualTo(headers);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "none",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"
      })
  void whatIsNoTraceIsAHeaderAsAnyOther(String header) {
    Map<String, String> headers = Map.of("traceparent", header);
    assertThat(Origin.of(headers, null)).isEqualTo(Origin.UNKNOWN);
    assertThat(Origin.withoutTrace(headers)).isEqualTo(headers);
  }
}
