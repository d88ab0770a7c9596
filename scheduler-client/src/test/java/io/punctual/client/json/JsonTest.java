package io.punctual.client.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

  private static final String JOB =
      """
      {"taskId":"1","taskType":"t","incarnation":"i","attempt":1,"version":7,"claimedAt":1,\
      "dueTime":2,"timeToRun":3,"params":"\u00e4","headers":{"x":"y"},"new":{"a":[]}}""";

  static List<Json> both() {
    return List.of(new Jackson3Json(), new Jackson2Json());
  }

  @ParameterizedTest
  @MethodSource("both")
  void aCallIsReadWithMembersThatAreUnknownAndWithoutOptionalOnes(Json json) {
    String text = "{\"application\":\"shop\",\"jobs\":[" + JOB + "]}";
    CallbackRequest request =
        Objects.requireNonNull(json.read(text.getBytes(UTF_8), CallbackRequest.class));

    assertThat(request.instance()).isNull();
    assertThat(request.jobs())
        .containsExactly(
            new CallbackRequest.Job(
                "1", "t", "i", 1, 7, 1, 2, null, 3, "\u00e4", Map.of("x", "y"), null));
    String retry = text.replace("\"dueTime\":2,", "\"dueTime\":2,\"lateSince\":5,");
    assertThat(
            Objects.requireNonNull(json.read(retry.getBytes(UTF_8), CallbackRequest.class))
                .jobs()
                .get(0)
                .lateSince())
        .isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("both")
  void aResultIsWrittenTheSameByBoth(Json json) {
    assertThat(new String(json.write(CallbackResult.extended("1", "\u00e4", 9)), UTF_8))
        .contains("\"taskId\":\"1\"", "\"incarnation\":\"\u00e4\"", "\"timeToRunMs\":9")
        .contains("\"error\":null")
        .doesNotContain("goesOn");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "{} x", "[1]", "{\"application\":1,\"jobs\":{}}"})
  void whatIsNoCallIsRefused(String text) {
    for (Json json : both()) {
      assertThatExceptionOfType(JsonException.class)
          .as(json.getClass().getName())
          .isThrownBy(() -> json.read(text.getBytes(UTF_8), CallbackRequest.class));
    }
  }

  @ParameterizedTest
  @MethodSource("both")
  void membersAreReadByName(Json json) {
    JsonObject object =
        JsonObject.of(
            json.read(
                "{\"text\":\"a\",\"n\":5000000000,\"none\":null,\"list\":[{\"x\":1}],\"tags\":[\"b\"]}"
                    .getBytes(UTF_8),
                Object.class));

    assertThat(object.text("text")).isEqualTo("a");
    assertThat(object.number("n")).isEqualTo(5_000_000_000L);
    assertThat(object.number("text", 3)).isEqualTo(3);
    assertThat(object.has("none")).isFalse();
    assertThat(Objects.requireNonNull(object.objects("list")).get(0).number("x")).isEqualTo(1);
    assertThat(object.texts("tags")).containsExactly("b");
    assertThat(object.objects("text")).isNull();
    assertThat(object.object("list")).isNull();
    assertThatExceptionOfType(JsonException.class)
        .isThrownBy(() -> object.text("n"))
        .withMessage("the member n is missing, or no String");
  }
}
