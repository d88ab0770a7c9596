package io.punctual.core.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
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
        .isThrownBy(() -> LuaScript.load("nonsense", LuaScript::read))
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
    Map<String, LuaScript> scripts = LuaScript.all(TimeSource.REDIS);
    String claim = scripts.get("claim").sha1();
    assertThat(claim).matches("[0-9a-f]{40}");
    assertThat(claim).isEqualTo(LuaScript.load("claim", LuaScript::read).sha1());
    assertThat(claim).isNotEqualTo(scripts.get("settle").sha1());
  }

  @Test
  void anotherClockStandsInThePlaceOfRedissOwn() {
    TimeSource still = new TimeSource("local function now_ms() return 5 end", "now");
    String text = new String(LuaScript.all(still).get("claim").text(), StandardCharsets.UTF_8);
    assertThat(text).contains("return 5 end").doesNotContain("TIME'");
  }

  @Test
  void eachFileIsAScriptThatIsLoadedOrAnInclude() throws IOException, URISyntaxException {
    Path lua = Path.of(LuaScript.class.getResource("/io/punctual/core/lua").toURI());
    try (Stream<Path> files = Files.walk(lua)) {
      assertThat(LuaScript.all(TimeSource.REDIS))
          .containsOnlyKeys(
              files
                  .map(file -> lua.relativize(file).toString())
                  .filter(file -> file.endsWith(".lua") && !file.startsWith("lib/"))
                  .map(file -> file.substring(0, file.length() - ".lua".length()))
                  .toList());
    }
  }
}
