package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Redis or the registry goes away for a while. */
class OutageIT {

  @Test
  void nothingIsLostWhenRedisIsKilledAndStartedAgain() throws Exception {
    String application = SharedSystem.name("redis-restart");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    try (RedisServer redis = RedisServer.startTemporary();
        JavaProcess scheduler =
            PROGRAMS.scheduler(SharedSystem.REGISTRY, redis.port(), application).start();
        JavaProcess worker = PROGRAMS.worker(SharedSystem.REGISTRY, application, record).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      submitter.submit(scheduler, "job-", 1000, "sleep 20", System.currentTimeMillis() + 1000, 6);
      Waiting.until(
          "some of them began", () -> SchedulerDeathIT.begun(record, "job-").size() > 200);

      redis.kill();
      Http.Answer refused =
          Http.post(
              scheduler.url() + "/api/v1/jobs",
              "{\"application\":\"a\",\"taskType\":\"t\",\"delay\":0}");
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.json().get("code").stringValue()).isEqualTo("unavailable");
      redis.start();

      Waiting.until("everything is done", () -> submitter.drained(scheduler));
      Accounting accounting =
          Accounting.of(submitter.attempted(), submitter.acknowledged(), Execution.read(record));
      assertThat(accounting.sound()).as(accounting.toString()).isTrue();
      assertThat(accounting.accepted()).isEqualTo(1000);
      submitter.submit(scheduler, "after-", 1, "record", System.currentTimeMillis(), 0);
      Waiting.until(
          "the scanner goes on", () -> SchedulerDeathIT.begun(record, "after-").size() == 1);
    }
  }

  @Test
  void deliveriesAndSubmitsGoOnWhileTheRegistryIsDown() throws Exception {
    String application = SharedSystem.name("no-registry");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    try (JavaProcess registry = PROGRAMS.registry().start().awaitReady();
        JavaProcess scheduler =
            PROGRAMS.scheduler(registry, SharedSystem.REDIS.port(), application).start();
        JavaProcess worker = PROGRAMS.worker(registry, application, record).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      submitter.submit(scheduler, "before-", 1, "record", System.currentTimeMillis(), 0);
      Waiting.until("a job ran", () -> SchedulerDeathIT.begun(record, "before-").size() == 1);

      registry.kill();
      // Long enough that the scheduler has tried to fetch the registry and failed.
      submitter.submit(scheduler, "during-", 500, "record", System.currentTimeMillis() + 1000, 16);
      Waiting.until("everything is done", () -> submitter.drained(scheduler));
      Accounting accounting =
          Accounting.of(submitter.attempted(), submitter.acknowledged(), Execution.read(record));
      assertThat(accounting.sound()).as(accounting.toString()).isTrue();
      assertThat(accounting.repeated()).isEmpty();

      registry.start().awaitReady();
      submitter.submit(scheduler, "after-", 1, "record", System.currentTimeMillis(), 0);
      Waiting.until("a job ran", () -> SchedulerDeathIT.begun(record, "after-").size() == 1);
    }
  }
}
