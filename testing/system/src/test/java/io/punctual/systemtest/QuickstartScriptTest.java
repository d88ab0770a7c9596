package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The functions by which {@code quickstart} decides, each run in a shell. */
class QuickstartScriptTest {

  private static final Path SCRIPT = ModuleDirectory.root().resolve("quickstart");
  private static final Instant BUILT = Instant.parse("2026-11-01T00:00:00Z");

  @TempDir Path root;

  private record Ended(int status, String output) {}

  /** Runs commands behind functions of the script. */
  private Ended run(List<String> functions, String commands) throws Exception {
    StringBuilder shell = new StringBuilder("set -euo pipefail\nroot=$PWD state=$PWD\n");
    String script = Files.readString(SCRIPT);
    for (String function : functions) {
      Matcher matcher =
          Pattern.compile(
                  "^" + function + "\\(\\) \\{\n.*?^\\}\n", Pattern.MULTILINE | Pattern.DOTALL)
              .matcher(script);
      assertThat(matcher.find()).as(function).isTrue();
      shell.append(matcher.group());
    }
    Process bash =
        new ProcessBuilder("bash", "-c", shell + commands)
            .directory(root.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor(20, TimeUnit.SECONDS)).isTrue();
    return new Ended(bash.exitValue(), output);
  }

  @Test
  void itWaitsAsLongAsAProgramLivesAndShowsThatItWaits() throws Exception {
    Ended waited =
        run(
            List.of("fail", "pause", "load", "await"),
            """
            pause() { :; }
            looks=0
            # Each look takes a minute.
            ready() { SECONDS=$((SECONDS + 60)); looks=$((looks + 1)); [ $looks -gt 20 ]; }
            await scheduler "$root/logs/scheduler.log" $$ ready
            """);

    assertThat(waited.status()).isZero();
    assertThat(waited.output().lines().filter(line -> line.contains("scheduler: waiting for")))
        .hasSize(20)
        .allSatisfy(line -> assertThat(line).contains("; load ", "log: logs/scheduler.log"));
    // Bash counts the real seconds as well.
    assertThat(waited.output()).containsPattern("waiting for 12\\d\\d s").contains("✓ scheduler");
  }

  @Test
  void itEndsWithTheLogOfAProgramThatEnded() throws Exception {
    Files.writeString(root.resolve("scheduler.log"), "port 8080 is taken\n");

    Ended ended =
        run(
            List.of("fail", "pause", "load", "await"),
            "sleep 0 & wait $!\nawait scheduler \"$root/scheduler.log\" $! false\n");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.output())
        .contains("port 8080 is taken", "waited for: scheduler; but its process has ended");
  }

  private Path file(String path, Instant changed) throws IOException {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    if (!Files.exists(file)) {
      Files.createFile(file);
    }
    Files.setLastModifiedTime(file, FileTime.from(changed));
    return file;
  }

  private boolean isBuilt() throws Exception {
    return run(
                List.of("jar", "is_newest", "is_built"),
                "programs=(shop) stamp=$state/built\nis_built && exit 0 || exit 7\n")
            .status()
        == 0;
  }

  @Test
  void itBuildsOnlyWhatChanged() throws Exception {
    Instant before = BUILT.minusSeconds(10);
    file("pom.xml", before);
    file("shop/pom.xml", before);
    Path source = file("shop/src/main/Shop.java", before);
    Files.setLastModifiedTime(source.getParent(), FileTime.from(before));
    assertThat(isBuilt()).as("without a program").isFalse();

    file("shop/target/shop-0.1.0-SNAPSHOT.jar", BUILT);
    Files.createDirectories(root.resolve("shop/target/lib"));
    assertThat(isBuilt()).as("with one that is newer than its sources").isTrue();

    Files.setLastModifiedTime(source, FileTime.from(BUILT.plusSeconds(10)));
    assertThat(isBuilt()).as("with a source that is newer").isFalse();
    file("built", BUILT.plusSeconds(20));
    assertThat(isBuilt()).as("when the build left the program as it was").isTrue();
    Files.delete(source);
    assertThat(isBuilt()).as("without a source that was there").isFalse();
  }

  @Test
  void itSaysWhichOfHowManyModulesIsBuilt() throws Exception {
    Path log = Files.createDirectories(root.resolve("logs")).resolve("build.log");
    Files.writeString(log, "[INFO] Punctual :: scheduler-api                    [jar]\n");
    assertThat(run(List.of("module"), "module\n").output()).isEmpty();

    Files.writeString(
        log,
        """
        [INFO] Building Punctual 0.1.0-SNAPSHOT                                  [1/14]
        [INFO] Building jar: /shop/target/shop-0.1.0-SNAPSHOT.jar
        [INFO] Building Punctual :: scheduler-api 0.1.0-SNAPSHOT                 [2/14]
        [INFO] Copying 3 resources
        """,
        StandardOpenOption.APPEND);
    assertThat(run(List.of("module"), "module\n").output()).isEqualTo("2/14\n");
  }
}
