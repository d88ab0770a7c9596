package io.punctual.server.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.doctor.Diagnosis.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/doctor.md has every code, as it is, and the document of the API the same. */
class DoctorPageTest {

  private static final Pattern ROW = Pattern.compile("^\\| `([a-z-]+)` \\| (\\w+) \\| .+");

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
  void theDocumentOfTheApiHasEveryCode() throws IOException {
    String words = String.join(", ", Arrays.stream(Code.values()).map(Code::word).toList());
    assertThat(Files.readString(Path.of("src/main/resources/io/punctual/server/openapi.yaml")))
        .contains("enum: [" + words + "]");
  }
}
