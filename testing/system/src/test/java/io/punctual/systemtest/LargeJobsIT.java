package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Jobs as large as they may be, as many as would fill the heap of the scheduler several times. */
@Isolated("so many bytes take all processors")
@Tag("full")
class LargeJobsIT {

  private static final int JOBS = 600;
  private static final int LOOKING = 4;
  // For calls that are large, and many at once.
  private static final Duration LONG = Duration.ofSeconds(60);
  // What stands before it takes some bytes, too.
  private static final String LARGE = "x".repeat(250_000);

  @Test
  void largeJobsDoNotFillTheHeap() throws Exception {
    Workload load = Workload.of("large");
    // So many bytes would slow down what others ask the shared Redis for.
    try (RedisServer redis = RedisServer.startTemporary();
        JavaProcess scheduler =
            PROGRAMS.scheduler(REGISTRY, redis.port(), load.application()).start()) {
      scheduler.awaitReady();
      long due = System.currentTimeMillis();
      for (int i = 0; i < JOBS; i++) {
        String what = i % 2 == 0 ? "reject " : "record ";
        String id = "job-" + i;
        Callable<Boolean> submit =
            () -> load.submitter().submitOne(scheduler, id, what + LARGE, due);
        // Polling would take longer than most submits.
        if (!submit.call()) {
          Waiting.until(id + " is taken", submit);
        }
      }
      try (JavaProcess worker = load.worker(REGISTRY, "--punctual.concurrency=1000").start()) {
        worker.awaitReady();
        Waiting.until(
            "all were tried",
            Duration.ofMinutes(2),
            () ->
                load.begun("job-").size() == JOBS
                    && load.submitter().queue(scheduler).get("dead").intValue() == JOBS / 2);

        lookAtDeadLetters(load, scheduler);

        String all = query(load).replace("}", ",\"limit\":1000}");
        requeue(load, scheduler, all);
        Waiting.until(
            "all were tried again",
            Duration.ofMinutes(2),
            () ->
                load.executions().size() == JOBS + JOBS / 2
                    && load.submitter().queue(scheduler).get("dead").intValue() == JOBS / 2);
      }
      assertThat(Files.readString(scheduler.log())).doesNotContain("OutOfMemoryError");
    }
  }

  @Test
  void largeCallsDoNotFillTheHeap() throws Exception {
    String name = Workload.of("calls").application();
    String job =
        "{\"application\":\"%s\",\"taskType\":\"job\",\"delay\":\"1h\",\"params\":\"%s\"}"
            .formatted(name, "\u20ac".repeat(80_000));
    List<String> bodies =
        List.of(
            "{\"jobs\":[" + "{},".repeat(5_000_000) + "{}]}",
            "{\"jobs\":[" + "\"\",".repeat(5_000_000) + "\"\"]}",
            "{\"jobs\":[" + (job + ",").repeat(59) + job + "]}");
    try (JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), name).start()) {
      scheduler.awaitReady();
      String batch = scheduler.url() + "/api/v1/jobs/batch";
      List<Callable<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < LOOKING; i++) {
        bodies.forEach(body -> calls.add(() -> Http.post(batch, body, LONG).status()));
      }
      try (ExecutorService threads = Executors.newFixedThreadPool(calls.size())) {
        List<Integer> seen = new ArrayList<>();
        for (Future<Integer> call : threads.invokeAll(calls)) {
          seen.add(call.get());
        }
        assertThat(seen).containsAnyOf(200, 503).doesNotContain(500);
      }
      // Whatever was refused for the sake of the others is taken when they are through.
      Waiting.until(
          "a batch is taken", () -> Http.post(batch, bodies.get(2), LONG).status() == 200);
      Waiting.until(
          "the reason is said",
          () -> Http.post(batch, bodies.get(0), LONG).body().contains("Token count"));
      assertThat(Files.readString(scheduler.log())).doesNotContain("OutOfMemoryError");
    }
  }

  @Test
  void formsThatNeverComeDoNotFillTheHeap() throws Exception {
    String name = Workload.of("forms").application();
    try (JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), name).start()) {
      scheduler.awaitReady();
      List<Socket> held = new ArrayList<>();
      try {
        for (int i = 0; i < 150; i++) {
          held.add(begun(scheduler, "/console/login", 2_000_000));
          held.add(begun(scheduler, "/console/bulk", 1_000_000));
          held.add(begun(scheduler, "/api/v1/jobs/batch", 2_000_000));
        }
        assertThat(Http.get(scheduler.url() + "/actuator/health/readiness").status())
            .isEqualTo(200);
      } finally {
        for (Socket socket : held) {
          socket.close();
        }
      }
      assertThat(Http.getText(scheduler.url() + "/console").status()).isEqualTo(200);
      assertThat(Files.readString(scheduler.log())).doesNotContain("OutOfMemoryError");
    }
  }

  private static Socket begun(JavaProcess scheduler, String path, int length) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), scheduler.port());
    String head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded"
            + "\r\nContent-Length: "
            + length
            + "\r\n\r\na";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static void lookAtDeadLetters(Workload load, JavaProcess scheduler) throws Exception {
    String list =
        scheduler.url()
            + "/api/v1/jobs?state=dead&limit=500&application="
            + load.application()
            + "&taskType="
            + WorkerApplication.TYPE;
    String requeue = scheduler.url() + "/api/v1/jobs:requeue";
    String dryRun = query(load).replace("}", ",\"dryRun\":true}");
    List<Callable<Integer>> looks = new ArrayList<>();
    for (int i = 0; i < LOOKING; i++) {
      looks.add(() -> patiently(() -> Http.get(list)).json().get("items").size());
      looks.add(() -> patiently(() -> Http.post(requeue, dryRun)).json().get("matched").intValue());
      looks.add(() -> patiently(() -> Http.getText(scheduler.url() + "/console/dead")).status());
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(looks.size())) {
      List<Integer> seen = new ArrayList<>();
      for (Future<Integer> look : threads.invokeAll(looks)) {
        seen.add(look.get());
      }
      for (int i = 0; i < seen.size(); i += 3) {
        assertThat(seen.subList(i, i + 3)).containsExactly(JOBS / 2, JOBS / 2, 200);
      }
    }
  }

  /** Asks again where Redis was too slow for so many at once, as the answer says. */
  private static Http.Answer patiently(Callable<Http.Answer> look) {
    AtomicReference<Http.Answer> answer = new AtomicReference<>();
    Waiting.until(
        "an answer other than 503",
        () -> {
          answer.set(look.call());
          return answer.get().status() != 503;
        });
    assertThat(answer.get().status()).as(answer.get().body()).isEqualTo(200);
    return answer.get();
  }

  /** Requeues all dead letters, in as many calls as it takes where Redis is too slow for one. */
  private static void requeue(Workload load, JavaProcess scheduler, String all) {
    // Paused until all are requeued, so that no job runs and becomes a dead letter again.
    String queue =
        scheduler.url() + "/api/v1/queues/" + load.application() + "/" + WorkerApplication.TYPE;
    patiently(() -> Http.post(queue + "/pause", ""));
    Waiting.until(
        "all are requeued",
        () -> {
          Http.post(scheduler.url() + "/api/v1/jobs:requeue", all, LONG);
          return load.submitter().queue(scheduler).get("dead").intValue() == 0;
        });
    patiently(() -> Http.post(queue + "/resume", ""));
  }

  private static String query(Workload load) {
    return "{\"application\":\"%s\",\"taskType\":\"%s\",\"state\":\"dead\"}"
        .formatted(load.application(), WorkerApplication.TYPE);
  }
}
