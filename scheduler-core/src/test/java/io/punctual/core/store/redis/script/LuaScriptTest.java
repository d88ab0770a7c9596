package io.punctual.core.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.FileNotFoundException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LuaScriptTest {

  private static String join(String name, Map<String, String> files) {
    LuaScript script =
        LuaScript.load(
            name,
            file -> {
              String text = files.get(file);
              if (text == null) {
                throw new UncheckedIOException(new FileNotFoundException(file));
              }
              return text;
            });
    assertThat(script.name()).isEqualTo(name);
    return new String(script.text(), StandardCharsets.UTF_8);
  }

  @Test
  void anIncludeStandsWhereItIsAskedForAndOnlyOnce() {
    assertThat(
            join(
                "main",
                Map.of(
                    "main", "-- main\n--- @include lib/a\n--- @include lib/b\nreturn 1\n",
                    "lib/a", "--- @include lib/b\nlocal a",
                    "lib/b", "local b\n")))
        .isEqualTo("-- main\nlocal b\nlocal a\nreturn 1\n");
  }

  @Test
  void aMissingIncludeIsNamedWithFileAndLine() {
    Map<String, String> files =
        Map.of("main", "--- @include lib/a", "lib/a", "\n\n--- @include lib/none");
    assertThatIllegalStateException()
        .isThrownBy(() -> join("main", files))
        .withMessage("lib/a.lua:3: there is no lib/none.lua");
  }

  @Test
  void aMissingScriptIsNamed() {
    assertThatIllegalStateException()
        .isThrownBy(() -> LuaScript.load("nonsense", TimeSource.REDIS))
        .withMessage("there is no nonsense.lua");
  }

  @Test
  void aCircleIsNamedWithFileAndLine() {
    Map<String, String> files =
        Map.of(
            "main",
            "--- @include lib/a",
            "lib/a",
            "x\n--- @include lib/b",
            "lib/b",
            "--- @include lib/a");
    assertThatIllegalStateException()
        .isThrownBy(() -> join("main", files))
        .withMessage("lib/b.lua:1: include goes round: main -> lib/a -> lib/b -> lib/a");
  }

  @Test
  void theSameTextHasTheSameHash() {
    LuaScript one = LuaScript.load("claim", TimeSource.REDIS);
    assertThat(one.sha1()).matches("[0-9a-f]{40}");
    assertThat(one.sha1()).isEqualTo(LuaScript.load("claim", TimeSource.REDIS).sha1());
    assertThat(one.sha1()).isNotEqualTo(LuaScript.load("settle", TimeSource.REDIS).sha1());
  }

  @Test
  void anotherClockStandsInThePlaceOfRedissOwn() {
    TimeSource still = new TimeSource("local function now_ms() return 5 end", "now");
    String text = new String(LuaScript.load("claim", still).text(), StandardCharsets.UTF_8);
    assertThat(text).contains("return 5 end").doesNotContain("TIME'");
  }
}
