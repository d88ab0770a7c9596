package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob.Event;
import io.punctual.RetryPolicy;
import io.punctual.schedule.TimeRules;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JobContentCodecTest {

  private static final JobContent FULL =
      JobContent.of(Due.at(253402300799999L))
          .params("{\"order\":\"ä€😀\"}")
          .timeToRun(Duration.ofHours(24))
          .retry(RetryPolicy.parse("exponential(2s,1h,0.25);attempts=7"))
          .headers(Map.of("a", "1", "b", "", "c", "x y"))
          .tags(List.of("order:1", "user/7"))
          .timeRules(
              new TimeRules(Instant.ofEpochMilli(253402300799999L), null, Duration.ofDays(30)))
          .cancelOn(List.of(new Event("order.paid", "4711"), new Event("order.paid", "4712")))
          .runOn(List.of(new Event("kyc.done", "a=b")))
          .build();
  private static final JobContent BARE = JobContent.of(Due.in(0)).build();

  @Test
  void aCopyKeepsAll() throws Exception {
    for (RecordComponent part : JobContent.class.getRecordComponents()) {
      assertThat(part.getAccessor().invoke(FULL))
          .as("set %s in FULL, so that its bytes and its copy are tested", part.getName())
          .isNotEqualTo(part.getAccessor().invoke(BARE));
    }
    assertThat(FULL.toBuilder().build()).isEqualTo(FULL);
  }

  @Test
  void whatIsWrittenIsReadBack() {
    for (JobContent content :
        new JobContent[] {
          FULL,
          BARE,
          JobContent.of(Due.in(128)).params("x".repeat(300_000)).retry(RetryPolicy.NEVER).build(),
          JobContent.of(Due.at(127))
              .params("\0\n")
              .timeToRun(Duration.ofSeconds(1))
              .retry(RetryPolicy.NOTIFY)
              .tags(List.of("x"))
              .build()
        }) {
      assertThat(JobContentCodec.decode(JobContentCodec.encode(content))).isEqualTo(content);
    }
  }

  @Test
  void rulesAreSeenAtTheFirstBytes() {
    JobContent rules =
        BARE.toBuilder().timeRules(new TimeRules(null, Duration.ofMillis(1), null)).build();
    assertThat(JobContentCodec.decode(JobContentCodec.encode(rules))).isEqualTo(rules);
    assertThat(JobContentCodec.hasTimeRules(JobContentCodec.encode(rules))).isTrue();
    assertThat(JobContentCodec.hasTimeRules(JobContentCodec.encode(FULL))).isTrue();
    assertThat(JobContentCodec.hasTimeRules(JobContentCodec.encode(BARE))).isFalse();
    assertThat(JobContentCodec.hasTimeRules(new byte[0])).isFalse();
    assertThat(JobContentCodec.hasTimeRules(new byte[] {-1, -1})).isFalse();
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
    bytes[0] = 1 << 5;
    assertThatThrownBy(() -> JobContentCodec.decode(bytes))
        .hasMessageContaining("version 1")
        .hasMessageContaining("version 2");
  }

  @Test
  void aFlagOfALaterReleaseIsNamed() {
    byte[] bytes = JobContentCodec.encode(BARE);
    byte[] later = new byte[bytes.length + 2];
    System.arraycopy(bytes, 1, later, 3, bytes.length - 1);
    later[0] = (byte) (bytes[0] | 0x80);
    later[1] = (byte) 0x80;
    later[2] = 0x40;
    assertThatThrownBy(() -> JobContentCodec.decode(later)).hasMessageContaining("flags 100000");
  }

  @Test
  void changedBytesAreRefusedOrReadAsWhatWouldBeWrittenLikeThat() {
    // Without a policy, whose text has several forms that mean the same.
    JobContent content =
        JobContent.of(Due.at(1))
            .params("ä")
            .timeToRun(Duration.ofSeconds(9))
            .headers(Map.of("a", "1", "b", ""))
            .tags(List.of("t", "u"))
            .build();
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
    JobContent content = JobContent.of(Due.in(0)).params("\ud800").build();
    assertThatThrownBy(() -> JobContentCodec.encode(content))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("params");
  }

  private static JobContent withHeaders(Map<String, String> headers) {
    return JobContent.of(Due.in(5)).params("p").headers(headers).build();
  }

  @Test
  void theTagsOfEventsAreNoTagsOfTheSubmitter() {
    JobContent content = FULL.toBuilder().tags(List.of("!x", "order:1")).build();
    assertThat(content.indexTags())
        .isSorted()
        .containsExactlyInAnyOrder(
            "!x", "order:1", ",-order.paid=4711", ",-order.paid=4712", ",+kyc.done=a=b");
    assertThat(IndexTags.withoutThem(content.indexTags())).containsExactly("!x", "order:1");
    assertThat(EventTags.events(content.indexTags(), true)).isEqualTo(content.cancelOn());
    assertThat(EventTags.events(content.indexTags(), false)).isEqualTo(content.runOn());
    assertThat(BARE.indexTags()).isEmpty();
  }
}
