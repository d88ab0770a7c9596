package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.worker.WorkerApplication;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A delivery that is held up on its way to the worker and arrives after a newer one. */
@Tag("full")
class OlderDeliveryIT {

  @Test
  void contentThatWasRevisedMeanwhileDoesNotRun() throws Exception {
    Workload load = Workload.of("older");
    try (FaultyLink link = new FaultyLink();
        JavaProcess scheduler =
            PROGRAMS.scheduler(REGISTRY, REDIS.port(), load.application()).start();
        JavaProcess worker =
            load.worker(REGISTRY, "--eureka.instance.non-secure-port=" + link.port())) {
      link.to(worker.port());
      scheduler.awaitReady();
      worker.start().awaitReady();
      FaultyLink.Trap trap = link.trap(FaultyLink.Side.REQUEST, List.of("the older content"), "");
      String job =
          "%s/api/v1/jobs/%s/%s/job"
              .formatted(scheduler.url(), load.application(), WorkerApplication.TYPE);
      Http.Answer submitted =
          Http.post(
              scheduler.url() + "/api/v1/jobs",
              """
              {"application":"%s","taskType":"%s","taskId":"job","delay":0,"timeToRun":"5s",
              "retry":"1h","params":"older record the older content"}"""
                  .formatted(load.application(), WorkerApplication.TYPE));
      assertThat(submitted.status()).isEqualTo(201);
      Waiting.until("the delivery is held up", trap::sprung);
      // Otherwise a second delivery would follow one second after the first has failed.
      String queue =
          "%s/api/v1/queues/%s/%s"
              .formatted(scheduler.url(), load.application(), WorkerApplication.TYPE);
      assertThat(Http.post(queue + "/pause", "").status()).isEqualTo(200);
      Waiting.until(
          "its time is over", () -> Http.get(job).json().at("/attempts/unknown").intValue() == 1);

      assertThat(
              Http.patch(job, "{\"params\":\"newer record the newer content\",\"delay\":0}")
                  .status())
          .isEqualTo(200);
      assertThat(Http.post(queue + "/resume", "").status()).isEqualTo(200);
      Waiting.until("the newer content has run", () -> load.begun("newer").size() == 1);
      trap.letGo();
      // It travels for longer than what was held up.
      assertThat(load.submitter().submitOne(scheduler, "last", "record", 0)).isTrue();
      Waiting.until("a later job has run", () -> load.begun("last").size() == 1);

      assertThat(load.begun("older")).isEmpty();
    }
  }
}
