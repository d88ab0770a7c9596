package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The error codes are those of the page and of the OpenAPI document. */
class ErrorCodesTest {

  @Test
  void thePageHasEachCodeWithItsStatus() throws IOException {
    String errors = Files.readString(Path.of("../docs/errors.md"));
    List<String> rows =
        Pattern.compile("^\\| `([a-z-]+)` \\| (\\d+) \\|", Pattern.MULTILINE)
            .matcher(errors)
            .results()
            .map(row -> row.group(1) + " " + row.group(2))
            .toList();
    assertThat(rows)
        .containsExactlyElementsOf(
            Arrays.stream(ErrorCode.values())
                .map(code -> code.slug() + " " + code.status())
                .toList());
  }

  @Test
  void theOpenApiDocumentHasEachCode() throws IOException {
    Path document = Path.of("src/main/resources/io/punctual/server/openapi.yaml");
    Matcher codes =
        Pattern.compile("enum: \\[(invalid, [a-z, -]+)]").matcher(Files.readString(document));
    assertThat(codes.find()).isTrue();
    assertThat(codes.group(1).split(", "))
        .containsExactly(
            Arrays.stream(ErrorCode.values()).map(ErrorCode::slug).toArray(String[]::new));
  }
}
