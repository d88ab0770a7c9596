package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Jobs and the events that they wait for, sent at the same time to two schedulers. */
class EventsIT {

  private static final String SCHEDULERS = "events-scheduler";
  private static final int JOBS = 200;

  private static JavaProcess one;
  private static JavaProcess two;

  @BeforeAll
  static void start() {
    one = scheduler().start().awaitReady();
    two = scheduler().start().awaitReady();
  }

  @AfterAll
  static void stop() {
    one.close();
    two.close();
  }

  private static JavaProcess scheduler() {
    return PROGRAMS.scheduler(
        REGISTRY,
        REDIS.port(),
        SCHEDULERS,
        "--spring.application.name=" + SCHEDULERS,
        "--punctual.buckets=2");
  }

  @Test
  void noEventIsLostOnPushedJobs() throws Exception {
    noEventIsLost(Workload.of("events-push"));
  }

  @Test
  void noEventIsLostOnPulledJobs() throws Exception {
    noEventIsLost(
        Workload.of("events-pull"),
        "--punctual.delivery=pull",
        "--punctual.service-id=" + SCHEDULERS);
  }

  /** Each job is due in an hour. Half of them are cancelled by their events, half are made due. */
  private static void noEventIsLost(Workload load, String... options) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    AtomicInteger repeats = new AtomicInteger();
    try (JavaProcess worker = load.worker(REGISTRY, options).start().awaitReady()) {
      List<Future<Http.Answer>> answers = new ArrayList<>();
      for (int i = 0; i < JOBS; i++) {
        String id = (i % 2 == 0 ? "stops-" : "runs-") + i;
        String field = i % 2 == 0 ? "cancelOn" : "runOn";
        Callable<Http.Answer> submit =
            call(
                two,
                "/jobs",
                """
                {"application":"%s","taskType":"job","taskId":"%s","delay":"1h",\
                "params":"%s record","%s":[{"name":"order.paid","key":"%s"}]}"""
                    .formatted(load.application(), id, id, field, id),
                repeats);
        Callable<Http.Answer> event =
            call(
                one,
                "/events",
                """
                {"applications":["%s"],"name":"order.paid","key":"%s"}"""
                    .formatted(load.application(), id),
                repeats);
        answers.add(threads.submit(i % 4 < 2 ? submit : event));
        answers.add(threads.submit(i % 4 < 2 ? event : submit));
      }
      for (Future<Http.Answer> answer : answers) {
        assertThat(answer.get().status()).as(answer.get().body()).isIn(200, 201);
      }
      Waiting.until("they were run", () -> load.begun("runs-").size() == JOBS / 2);
      Waiting.until("none is left", () -> load.submitter().drained(one));
      assertThat(load.begun("stops-")).isEmpty();
      assertThat(load.executions()).hasSize(JOBS / 2);
      assertThat(load.submitter().queue(two).get("counters").get("cancelled").intValue())
          .isBetween(JOBS / 2, JOBS / 2 + repeats.get());
      assertThat(worker.url()).isNotEmpty();
    } finally {
      threads.shutdown();
    }
  }

  /** Repeated where there was no answer, as clients do. */
  private static Callable<Http.Answer> call(
      JavaProcess scheduler, String path, String body, AtomicInteger repeats) {
    return () -> {
      for (int left = 3; ; left--) {
        try {
          return post(scheduler, path, body);
        } catch (IOException e) {
          if (left == 0) {
            throw e;
          }
          repeats.incrementAndGet();
        }
      }
    };
  }

  private static Http.Answer post(JavaProcess scheduler, String path, String body)
      throws IOException {
    return Http.post(scheduler.url() + "/api/v1" + path, body);
  }
}
