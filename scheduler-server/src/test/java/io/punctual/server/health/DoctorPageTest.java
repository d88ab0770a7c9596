package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.probe.ProbeResult.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/doctor.md and the document of the API have every code and every check. */
class DoctorPageTest {

  private static final Pattern ROW = Pattern.compile("^\\| `([a-z-]+)` \\| (\\w+) \\| .+");

  private static final Pattern NAME = Pattern.compile("`([a-z]+)`");

  private static final List<String> CHECKS =
      Arrays.stream(Finding.Code.values())
          .filter(Finding.Code::isCheck)
          .map(Finding.Code::word)
          .toList();

  private static final List<String> CODES =
      Arrays.stream(Code.values()).map(code -> code.word() + " " + code.status().word()).toList();

  @Test
  void thePageHasEveryCode() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/doctor.md")).stream()
            .map(ROW::matcher)
            .filter(row -> row.find())
            .map(row -> row.group(1) + " " + row.group(2))
            .toList();
    assertThat(rows).containsExactlyElementsOf(CODES);
  }

  @Test
  void thePageHasEveryCheck() throws IOException {
    List<String> names =
        Files.readAllLines(Path.of("../docs/doctor.md")).stream()
            .dropWhile(line -> !line.equals("| check | looks at |"))
            .skip(2)
            .takeWhile(line -> line.startsWith("| "))
            .map(line -> line.split(" \\| ", 2)[0])
            .flatMap(cell -> NAME.matcher(cell).results())
            .map(name -> name.group(1))
            .toList();
    assertThat(names).containsExactlyElementsOf(CHECKS);
  }

  @Test
  void theDocumentOfTheApiHasEveryCodeAndEveryCheck() throws IOException {
    String words = String.join(", ", Arrays.stream(Code.values()).map(Code::word).toList());
    assertThat(Files.readString(Path.of("src/main/resources/io/punctual/server/openapi.yaml")))
        .contains("enum: [" + words + "]")
        .contains("name: { type: string, enum: [" + String.join(", ", CHECKS) + "] }");
  }
}
