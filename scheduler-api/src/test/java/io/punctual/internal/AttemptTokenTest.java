package io.punctual.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.InvalidJobException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AttemptTokenTest {

  private static AttemptToken token(String lease) {
    return new AttemptToken("shop", "order.close", "1", "abc", lease);
  }

  @Test
  void itsTextIsReadBack() {
    AttemptToken token = token("x".repeat(64));
    assertThat(AttemptToken.parse(token.text())).isEqualTo(token);
    assertThat(AttemptToken.ofHandle(token.text(), "shop")).isEqualTo(token);
  }

  static Stream<String> others() {
    return Stream.of(
        "",
        "x",
        "not base64!",
        token("").text(),
        token("with space").text(),
        token("x".repeat(65)).text(),
        token("a\nb").text(),
        new AttemptToken("shop", "", "1", "abc", "x").text(),
        new AttemptToken("shop", "order.close", "1", "", "x").text());
  }

  @ParameterizedTest
  @MethodSource("others")
  void anythingElseIsNoHandle(String text) {
    assertThatThrownBy(() -> AttemptToken.ofHandle(text, "shop"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("TaskContext.defer");
  }

  @Test
  void theHandleOfAnotherApplicationIsRefused() {
    assertThatThrownBy(() -> AttemptToken.ofHandle(token("x").text(), "bank"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("of the application shop, and this is bank");
  }
}
