package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OriginsTest {

  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  private static @Nullable String kept(String incarnation) {
    JobContent content = new JobContent(Due.in(0), "", null, null, Map.of(), List.of());
    JobRecord record =
        new JobRecord(incarnation, 1, 0, 0, List.of(), JobContentCodec.encode(content));
    return Origins.content(record).headers().get("traceparent");
  }

  @ParameterizedTest
  @CsvSource({
    "shop/k3vq, shop/k3vq, 7 + 6",
    "anna, anna, 7 + 5",
    "bank/k3vq, bank_k3vq, 7 + 10",
    "an na:x&, an_na_x_, 7 + 9",
  })
  void aSubmitterIsKept(String given, String seen, String length) {
    String incarnation = Origins.incarnation(Map.of(), "shop", given);
    assertThat(Origins.submitter(incarnation, "shop")).isEqualTo(seen);
    assertThat(incarnation).hasSize(7 + Integer.parseInt(length.substring(4)));
    assertThat(incarnation).matches("[A-Za-z0-9._:-]+");
    assertThat(kept(incarnation)).isNull();
  }

  @Test
  void aSubmitterIsCut() {
    String incarnation = Origins.incarnation(Map.of(), "shop", "x".repeat(500));
    assertThat(Origins.submitter(incarnation, "shop")).isEqualTo("x".repeat(64));
  }

  @Test
  void aTraceIsKeptWithAndWithoutASubmitter() {
    Map<String, String> headers = Map.of("traceparent", TRACE);
    String alone = Origins.incarnation(headers, "shop", null);
    assertThat(kept(alone)).isEqualTo(TRACE);
    assertThat(Origins.submitter(alone, "shop")).isNull();
    String both = Origins.incarnation(headers, "shop", "anna");
    assertThat(kept(both)).isEqualTo(TRACE);
    assertThat(Origins.submitter(both, "shop")).isEqualTo("anna");
  }

  @Test
  void anIncarnationOfSomebodyElseSaysNothing() {
    assertThat(Origins.submitter("i-4711", "shop")).isNull();
    assertThat(kept("i-4711")).isNull();
    assertThat(kept(".".repeat(41))).isNull();
  }
}
