package io.punctual.server.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.DateTimeException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A row that cannot be read is refused; it does not end the move of the others. */
class SqlRowTest {

  static Stream<RuntimeException> flaws() {
    return Stream.of(
        new ArithmeticException("long overflow"),
        new DateTimeException("Instant exceeds minimum or maximum instant"),
        new NumberFormatException("For input string: \"daily\""),
        new IllegalArgumentException("every must be 1 s to 3,660 days"));
  }

  @ParameterizedTest
  @MethodSource("flaws")
  void itsFlawIsNamed(RuntimeException flaw) {
    SqlRow row =
        SqlRow.of(
            List.of("7"),
            1,
            "report",
            true,
            true,
            () -> {
              throw flaw;
            });

    assertThat(row.work()).isNull();
    assertThat(row.name()).isEqualTo("report");
    assertThat(row.flaw()).isEqualTo("cannot be moved: " + flaw.getMessage());
  }
}
