package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.console.ErrorText.Kind;
import io.punctual.server.console.ErrorText.Part;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
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
    "HTTP 404 from http://a.B:80/callback: no order 7, '', '', HTTP 404: no order 7",
    "HTTP 500 from http://a.B:80/callback: a.B: x, a.B, B, x",
    "a.B: x at 9 (now) at a.b.C.d(C.java:7) at e.F.g(F.java:9) Caused by: h.I, a.B, B, x at 9 (now)",
    "'', '', '', ''",
  })
  void aClassIsToldFromTheMessage(String text, String name, String type, String message) {
    ErrorText error = ErrorText.of(text + "\n\tat a.B.c(B.java:1)");

    assertThat(error.name()).isEqualTo(name);
    assertThat(error.type()).isEqualTo(type);
    assertThat(error.message()).isEqualTo(message);
    assertThat(error.cut()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "2, 0", "3, 1", "9, 7"})
  void theFirstAndTheLastCauseAreShown(int causes, int further) {
    StringBuilder text = new StringBuilder("a.B: top");
    for (int i = 1; i <= causes; i++) {
      text.append("\n  Caused by: a.C: cause ").append(i).append("\n\tat a.B.c(B.java:1)");
    }

    ErrorText error = ErrorText.of(text.toString());

    assertThat(error.brief().stream().filter(part -> part.kind() == Kind.CAUSES).map(Part::count))
        .isEqualTo(further == 0 ? List.of() : List.of(further));
    assertThat(error.brief().stream().map(Part::text).filter(line -> line.contains("Caused")))
        .hasSize(causes - further);
    assertThat(shown(error)).contains(causes == 0 ? "a.B: top" : "a.C: cause " + causes);
    assertThat(error.whole()).isEqualTo(text.toString());
    assertThat(error.cut()).isEqualTo(further > 0);
  }

  private static String shown(ErrorText error) {
    return error.brief().stream()
        .map(part -> part.count() > 0 ? "[" + part.count() + "]" : part.text().strip())
        .collect(Collectors.joining("\n"));
  }

  @Test
  void framesOfLibrariesAreLeftOutAndTheNearestOwnOneIsMarked() {
    ErrorText error =
        ErrorText.of(
            """
            java.lang.IllegalStateException: order 7
            \tat java.base/java.util.Optional.orElseThrow(Optional.java:403)
            \tat org.springframework.jdbc.core.JdbcTemplate.query(JdbcTemplate.java:1)
            \tat shop.Orders$$SpringCGLIB$$0.close(<generated>)
            \tat shop.Orders.close(Orders.java:41)
            \tat app//shop.OrderWorker.run(OrderWorker.java:12)
            \tat io.punctual.client.run.JobRunner.run(JobRunner.java:1)
            Caused by: java.net.SocketTimeoutException: late
            \tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:1)
            \tat shop.Bank.call(Bank.java:9)
            \tat shop.Bank.pay(Bank.java:5)
            \t... 3 more
            """);

    assertThat(shown(error))
        .isEqualTo(
            """
            java.lang.IllegalStateException: order 7
            [3]
            at shop.Orders.close(Orders.java:41)
            at app//shop.OrderWorker.run(OrderWorker.java:12)
            [1]
            Caused by: java.net.SocketTimeoutException: late
            [1]
            at shop.Bank.call(Bank.java:9)
            at shop.Bank.pay(Bank.java:5)
            [1]""");
    assertThat(error.brief())
        .filteredOn(part -> part.kind() == Kind.OWN)
        .singleElement()
        .satisfies(part -> assertThat(part.text()).contains("Bank.java:9"));
  }

  @Test
  void aTraceOfLibrariesAloneIsShownWhole() {
    String text = "a.B: c\n\tat java.base/java.lang.Thread.run(Thread.java:1)";

    assertThat(ErrorText.of(text).cut()).isFalse();
    assertThat(shown(ErrorText.of(text))).contains("Thread.java:1");
  }
}
