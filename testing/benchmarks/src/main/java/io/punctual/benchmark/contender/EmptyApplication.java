package io.punctual.benchmark.contender;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The stack of the scheduler without a scheduler: reads a body and answers nothing. */
@SpringBootConfiguration
@EnableAutoConfiguration
@RestController
public class EmptyApplication {

  public static void main(String[] args) {
    SpringApplication.run(EmptyApplication.class, args);
  }

  @PostMapping("/empty")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void take(@RequestBody byte[] body) {}
}
