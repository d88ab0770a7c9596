package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** A flood of calls must not make the kernel end a scheduler's container. */
class ContainerMemoryTest {

  /** What a flood took beyond the heap, in MB, when it was measured. */
  private static final int BEYOND_HEAP = 302;

  private static final Path ROOT = Path.of("..");

  private static int option(String name, String command) {
    Matcher option = Pattern.compile("-XX:" + name + "=(\\d+)").matcher(command);
    assertThat(option.find()).as(name + " in " + command).isTrue();
    return Integer.parseInt(option.group(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"scheduler", "scheduler-2"})
  void aContainerHasMemoryForAFloodBeyondTheHeap(String name) throws IOException {
    Map<String, Map<String, Map<String, Object>>> compose =
        new Yaml().load(Files.readString(ROOT.resolve("docker-compose.yml")));
    Map<String, Object> service = compose.get("services").get(name);
    String command = service.get("entrypoint").toString();
    command = command.substring(command.indexOf("exec java"));

    assertThat(service.get("mem_limit")).isEqualTo("1g");
    int rest = 1024 * (100 - option("MaxRAMPercentage", command)) / 100;
    assertThat(rest).isGreaterThan(BEYOND_HEAP);
    assertThat(option("MaxDirectMemorySize", command)).isLessThan(rest / 2);
  }

  @Test
  void theImageStartsWithTheSameBounds() throws IOException {
    String compose = Files.readString(ROOT.resolve("docker-compose.yml"));
    String image = Files.readString(ROOT.resolve("deploy/images/Dockerfile"));
    for (String option : new String[] {"MaxRAMPercentage", "MaxDirectMemorySize"}) {
      assertThat(option(option, image)).as(option).isEqualTo(option(option, compose));
    }
  }
}
