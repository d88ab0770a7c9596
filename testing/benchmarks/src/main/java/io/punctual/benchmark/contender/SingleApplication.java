package io.punctual.benchmark.contender;

import java.util.function.Consumer;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** A web application that takes a job a POST, as any framework could. */
@SpringBootConfiguration
@EnableAutoConfiguration
class SingleApplication {

  /** Where jobs arrive. */
  @RestController
  static class Callback {

    private final Consumer<String> handler;

    Callback(Consumer<String> handler) {
      this.handler = handler;
    }

    @PostMapping("/single")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void take(@RequestBody String params) {
      handler.accept(params);
    }
  }
}
