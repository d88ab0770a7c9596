package io.punctual.systemtest.reactive;

import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@SpringBootApplication
public class ReactiveShop {
  public static void main(String[] args) {
    SpringApplication.run(ReactiveShop.class, args);
  }

  @DelayedTask("order.close")
  void close(String order) {
    System.out.println("closing " + order);
  }

  /** Sending waits for an answer, and so does not belong on a thread of the event loop. */
  @Bean
  RouterFunction<ServerResponse> orders(TaskSubmitService tasks) {
    return RouterFunctions.route()
        .POST(
            "/orders/{id}",
            request ->
                Mono.fromCallable(
                        () -> tasks.send("order.close", request.pathVariable("id"), Duration.ZERO))
                    .subscribeOn(Schedulers.boundedElastic())
                    .flatMap(sent -> ServerResponse.ok().bodyValue(sent.outcome().name())))
        .build();
  }
}
