package io.punctual.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.converter.HttpMessageNotWritableException;

@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
class ProblemsTest {

  @Test
  void aCallerWhoWentAwayIsNoErrorOfTheScheduler(CapturedOutput log) {
    Problems.unexpected(
        new HttpMessageNotWritableException(
            "Could not write JSON", new IOException("Broken pipe")));

    assertThat(log.getAll()).isEmpty();
  }

  @Test
  void whatNobodyThoughtOfIsLoggedWithItsStack(CapturedOutput log) {
    Problems.unexpected(new IllegalStateException("a mistake of ours"));

    assertThat(log.getAll())
        .contains("A request failed in an unexpected way", "a mistake of ours", "ProblemsTest");
  }
}
