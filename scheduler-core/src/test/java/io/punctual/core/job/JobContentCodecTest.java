package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.RetryPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JobContentCodecTest {

  private static final JobContent FULL =
      new JobContent(
          Due.at(253402300799999L),
          "{\"order\":\"ä€😀\"}",
          Duration.ofHours(24),
          RetryPolicy.parse("exponential(2s,1h,0.25);attempts=7"),
          Map.of("a", "1", "b", "", "c", "x y"),
          List.of("order:1", "user/7"));
  private static final JobContent BARE =
      new JobContent(Due.in(0), "", null, null, Map.of(), List.of());

  @Test
  void whatIsWrittenIsReadBack() {
    for (JobContent content :
        new JobContent[] {
          FULL,
          BARE,
          new JobContent(
              Due.in(128), "x".repeat(300_000), null, RetryPolicy.NEVER, Map.of(), List.of()),
          new JobContent(
              Due.at(127),
              "\0\n",
              Duration.ofSeconds(1),
              RetryPolicy.NOTIFY,
              Map.of(),
              List.of("x"))
        }) {
      assertThat(JobContentCodec.decode(JobContentCodec.encode(content))).isEqualTo(content);
    }
  }

  @Test
  void equalContentGivesEqualBytesInWhateverOrderTheHeadersCame() {
    Map<String, String> oneWay = new LinkedHashMap<>();
    oneWay.put("a", "1");
    oneWay.put("b", "2");
    Map<String, String> otherWay = new LinkedHashMap<>();
    otherWay.put("b", "2");
    otherWay.put("a", "1");
    assertThat(JobContentCodec.encode(withHeaders(oneWay)))
        .isEqualTo(JobContentCodec.encode(withHeaders(otherWay)));
  }

  @Test
  void theBytesAreSmall() {
    assertThat(JobContentCodec.encode(BARE)).hasSize(3);
  }

  @Test
  void everyTruncationIsRefused() {
    byte[] bytes = JobContentCodec.encode(FULL);
    for (int length = 0; length < bytes.length; length++) {
      byte[] part = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> JobContentCodec.decode(part))
          .isInstanceOf(CorruptContentException.class);
    }
  }

  @Test
  void bytesBehindTheEndAreRefused() {
    byte[] bytes = JobContentCodec.encode(FULL);
    assertThatThrownBy(() -> JobContentCodec.decode(Arrays.copyOf(bytes, bytes.length + 1)))
        .isInstanceOf(CorruptContentException.class)
        .hasMessageContaining("1 bytes too many");
  }

  @Test
  void anotherVersionIsNamed() {
    byte[] bytes = JobContentCodec.encode(BARE);
    bytes[0] = 2 << 5;
    assertThatThrownBy(() -> JobContentCodec.decode(bytes))
        .hasMessageContaining("version 2")
        .hasMessageContaining("version 1");
  }

  @Test
  void changedBytesAreRefusedOrReadAsWhatWouldBeWrittenLikeThat() {
    // Without a policy, whose text has several forms that mean the same.
    JobContent content =
        new JobContent(
            Due.at(1),
            "ä",
            Duration.ofSeconds(9),
            null,
            Map.of("a", "1", "b", ""),
            List.of("t", "u"));
    Random random = new Random(4711);
    byte[] bytes = JobContentCodec.encode(content);
    for (int i = 0; i < 5_000; i++) {
      byte[] changed = bytes.clone();
      changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      try {
        JobContent read = JobContentCodec.decode(changed);
        if (read.retry() == null) {
          assertThat(JobContentCodec.encode(read)).isEqualTo(changed);
        }
      } catch (CorruptContentException e) {
        assertThat(e).hasMessageStartingWith("corrupt content: ");
      }
    }
  }

  @Test
  void halfACharacterIsRefusedByName() {
    JobContent content = new JobContent(Due.in(0), "\ud800", null, null, Map.of(), List.of());
    assertThatThrownBy(() -> JobContentCodec.encode(content))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("params");
  }

  private static JobContent withHeaders(Map<String, String> headers) {
    return new JobContent(Due.in(5), "p", null, null, headers, List.of());
  }
}
