package io.punctual.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PortsTest {

  private static final int MANY = 1000;

  private static List<Integer> draw() {
    return IntStream.range(0, MANY).mapToObj(i -> Ports.free()).toList();
  }

  /** A process that draws ports, says so, and runs until its input ends. */
  static final class Other {

    private Other() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println(draw());
      var unused = System.in.read();
    }
  }

  @Test
  void noPortIsDrawnTwiceByOneProcess() {
    assertThat(draw()).doesNotHaveDuplicates();
  }

  @Test
  void noPortIsDrawnByTwoProcesses() throws Exception {
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Other.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said = other.inputReader()) {
      String[] theirs = said.readLine().replaceAll("[\\[\\] ]", "").split(",", -1);
      assertThat(theirs).hasSize(MANY);
      assertThat(draw().stream().map(String::valueOf)).doesNotContain(theirs);
    } finally {
      other.destroyForcibly().waitFor();
    }
  }
}
