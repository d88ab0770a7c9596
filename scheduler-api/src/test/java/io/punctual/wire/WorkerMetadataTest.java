package io.punctual.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerMetadataTest {

  private static WorkerMetadata with(String key, String value) {
    Map<String, String> map = new HashMap<>(Map.of(WorkerMetadata.TASK_TYPES, "order.close"));
    map.put(key, value);
    return WorkerMetadata.from(map);
  }

  @Test
  void whatIsWrittenIsWhatIsRead() {
    WorkerMetadata metadata =
        new WorkerMetadata(
            Set.of("order.close", "order:remind"), "/shop/callback", WorkerMetadata.BATCH, 7);
    assertThat(WorkerMetadata.from(metadata.toMap())).isEqualTo(metadata);
    WorkerMetadata released = with(WorkerMetadata.RELEASE, "2.14.0+g12ab");
    assertThat(released.release()).isEqualTo("2.14.0+g12ab");
    assertThat(WorkerMetadata.from(released.toMap())).isEqualTo(released);
  }

  @Test
  void whatAnInstanceSaysOfItsReleaseCountsMoreThanWhatItsRegistryHas() {
    WorkerMetadata registered = with(WorkerMetadata.RELEASE, "1");
    assertThat(registered.with(new PingAnswer("shop", 1, null, null, null, "2")).release())
        .isEqualTo("2");
    assertThat(registered.with(new PingAnswer("shop", 1, null, null, null, null)).release())
        .isEqualTo("1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a\nb", "2.14\u202E", "\u7248"})
  void whatIsNoReleaseIsRefused(String release) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with(WorkerMetadata.RELEASE, release))
        .withMessageStartingWith("punctual.release must be 1 to 64 printable ASCII characters");
    assertThat(WorkerMetadata.isRelease("x".repeat(WorkerMetadata.MAX_RELEASE))).isTrue();
    assertThat(WorkerMetadata.isRelease("x".repeat(WorkerMetadata.MAX_RELEASE + 1))).isFalse();
  }

  @Test
  void anAddressAloneIsAWorkerOfTheBatchProtocol() {
    Map<String, String> map = Map.of(WorkerMetadata.CALLBACK, "/callback");

    assertThat(WorkerMetadata.isWorker(map)).isTrue();
    assertThat(WorkerMetadata.isWorker(Map.of("zone", "a"))).isFalse();
    assertThat(WorkerMetadata.from(map))
        .isEqualTo(new WorkerMetadata(Set.of(), "/callback", WorkerMetadata.BATCH, 100));
    assertThat(
            WorkerMetadata.from(
                Map.of(WorkerMetadata.CALLBACK, "/callback", WorkerMetadata.TASK_TYPES, "a")))
        .isEqualTo(new WorkerMetadata(Set.of("a"), "/callback", WorkerMetadata.BATCH, 100));
  }

  static Set<String> keys() {
    return Set.of(
        WorkerMetadata.TASK_TYPES,
        WorkerMetadata.CALLBACK_PATH,
        WorkerMetadata.PROTOCOL,
        WorkerMetadata.CONCURRENCY,
        WorkerMetadata.RELEASE);
  }

  /** An error of the JVM would be no exception that says which entry it is. */
  @ParameterizedTest
  @MethodSource("keys")
  void aLongValueIsRefusedInFewWords(String key) {
    for (String piece : new String[] {"/a", "1", "a,", "a/"}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> with(key, piece.repeat(200_000)))
          .withMessageStartingWith(key)
          .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
    }
  }

  @Test
  void aPathMayBeAsLongAsIsSaid() {
    String longest = "/a".repeat(WorkerMetadata.MAX_CALLBACK_PATH / 2);
    assertThat(with(WorkerMetadata.CALLBACK_PATH, longest).callbackPath()).isEqualTo(longest);
    assertThat(WorkerMetadata.isPlainPath(longest + "/a")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "/", "a", "//a", "/a/", "/a?b", "/a#b", "/a/../b", "/..", "/a/./b", "/a/.", "/.",
        "/a b", "/%2e%2e", "/a\nb", "/\u00e4", "/a;b", "/a\\b", "@a/b"
      })
  void whatIsNoPlainPathIsRefused(String path) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with(WorkerMetadata.CALLBACK_PATH, path))
        .withMessageContaining(WorkerMetadata.CALLBACK_PATH);
  }

  @ParameterizedTest
  @ValueSource(strings = {"order\u202Eclose", "a b", "a\nb", "<b>", "."})
  void aTaskTypeThatNoJobCanHaveIsRefused(String type) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with(WorkerMetadata.TASK_TYPES, "order.close," + type))
        .withMessageContaining(WorkerMetadata.TASK_TYPES);
  }

  @Test
  void thereMayBeSoManyTaskTypes() {
    String types =
        IntStream.range(0, WorkerMetadata.MAX_TASK_TYPES)
            .mapToObj(i -> "t" + i)
            .collect(Collectors.joining(", "));
    assertThat(with(WorkerMetadata.TASK_TYPES, types).taskTypes())
        .hasSize(WorkerMetadata.MAX_TASK_TYPES);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> with(WorkerMetadata.TASK_TYPES, types + ",more"));
  }
}
