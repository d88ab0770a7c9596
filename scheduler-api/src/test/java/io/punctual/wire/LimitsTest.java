package io.punctual.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {

  @ParameterizedTest
  @ValueSource(strings = {"", "plain", "grün", "\ud83d\ude00", "a\ud83d\ude00b\ud83d\ude00"})
  void aTextOfCharactersIsWhole(String text) {
    assertThat(Limits.isWhole(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void aTextWithHalfOfAPairIsNot(int which) {
    String high = Character.toString((char) 0xd83d);
    String low = Character.toString((char) 0xde00);
    String[] broken = {high, low, low + high, high + "a", "a" + high + low + low};

    assertThat(Limits.isWhole(broken[which])).isFalse();
  }
}
