package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorTextTest {

  @ParameterizedTest
  @CsvSource({
    "java.net.SocketTimeoutException: Read timed out, java.net.SocketTimeoutException, SocketTimeoutException, Read timed out",
    "java.lang.NullPointerException, java.lang.NullPointerException, '', NullPointerException",
    "java.lang.Error: , java.lang.Error, '', Error",
    "a.B$C: x: y, a.B$C, B$C, x: y",
    "10.0.0.1: refused, '', '', 10.0.0.1: refused",
    "shop.example: refused, '', '', shop.example: refused",
    "TimeoutError: late, '', '', TimeoutError: late",
    "HTTP 500 from http://a.B:80, '', '', HTTP 500 from http://a.B:80",
    "'', '', '', ''",
  })
  void aClassIsToldFromTheMessage(String text, String name, String type, String message) {
    ErrorText error = ErrorText.of(text + "\n\tat a.B.c(B.java:1)");

    assertThat(error.name()).isEqualTo(name);
    assertThat(error.type()).isEqualTo(type);
    assertThat(error.message()).isEqualTo(message);
    assertThat(error.rest()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "2, 0", "3, 1", "9, 7"})
  void theThirdAndFurtherCausesAreApart(int causes, int further) {
    String text = "a.B: top" + "\n  Caused by: a.C: x\n\tat a.B.c(B.java:1)".repeat(causes);

    ErrorText error = ErrorText.of(text);

    assertThat(error.causes()).isEqualTo(further);
    assertThat(error.head().split("Caused by", -1)).hasSize(causes - further + 1);
    assertThat(error.rest().split("Caused by", -1)).hasSize(further + 1);
  }
}
