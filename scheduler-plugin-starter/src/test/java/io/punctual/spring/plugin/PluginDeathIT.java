package io.punctual.spring.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.TaskSubmitService;
import io.punctual.core.job.JobState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** What becomes of the jobs that a process had when it died. */
@Tag("full")
class PluginDeathIT extends PluginTestBase {

  @Test
  void aJobThatADeadProcessHadLeftToSomebodyElseWaitsForThem(@TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("handle");
    anotherOneDies("approve", file.toString());

    startApplication();
    assertThat(approval("r").state()).isEqualTo(JobState.RESERVED);
    assertThat(service.finish(Files.readString(file)).outcome())
        .isEqualTo(DeferralResult.Outcome.DONE);
    assertThat(approval("r").state()).isEqualTo(JobState.FINISHED);
    assertThat(context.getBean(Approvals.class).handles).isEmpty();
  }

  @Test
  void whatAProcessTookToItsGraveIsRunByAnotherOneWhenTheLeaseIsOver() throws Exception {
    anotherOneDies("script", "");

    startApplication();
    eventually().until(() -> find("r").state() == JobState.FINISHED);
    assertThat(script.calls).containsExactly("end");
  }

  @Test
  void aFutureThatAProcessTookToItsGraveIsBegunAgainByAnotherOne() throws Exception {
    anotherOneDies("future", "");

    startApplication();
    Futures futures = context.getBean(Futures.class);
    eventually().until(() -> futures.begun.containsKey("r"));
    futures.complete("r");
    eventually().until(() -> future("r").state() == JobState.FINISHED);
  }

  /** In the midst of a job of that type. */
  private void anotherOneDies(String taskType, String file) throws Exception {
    context.close();
    Process other = Dying.start(prefix, taskType, file);
    try {
      assertThat(other.waitFor(60, TimeUnit.SECONDS)).as("it ends by its job").isTrue();
      assertThat(other.exitValue()).isEqualTo(Dying.EXIT);
    } finally {
      other.destroyForcibly();
    }
  }

  /** The same in a process of its own, which ends in the midst of its first job. */
  static final class Dying {

    static final int EXIT = 7;

    private Dying() {}

    static Process start(String prefix, String taskType, String file) throws IOException {
      return new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-cp",
              System.getProperty("java.class.path"),
              Dying.class.getName(),
              redis.host(),
              Integer.toString(redis.port()),
              prefix,
              taskType,
              file)
          .inheritIO()
          .start();
    }

    public static void main(String[] args) throws InterruptedException, IOException {
      // Nothing of the test's own class here, which would start a Redis that nobody ends.
      ConfigurableApplicationContext context =
          Shop.start(args[0], Integer.parseInt(args[1]), args[2]);
      context.getBean(Script.class).on("end", () -> Runtime.getRuntime().halt(EXIT));
      TaskSubmitService service = context.getBean(TaskSubmitService.class);
      service.send(
          DelayQueueJob.of(args[3]).taskId("r").params("end").delay(Duration.ZERO).build());
      if (args[3].equals("future")) {
        // Its worker has returned, and its future is open.
        Futures futures = context.getBean(Futures.class);
        Awaitility.await().until(() -> futures.begun.containsKey("r"));
        service.send("script", "end", Duration.ZERO);
      } else if (args[3].equals("approve")) {
        Ear ear = context.getBean(Ear.class);
        // Behind that the engine is told.
        Awaitility.await().until(() -> !ear.heard.isEmpty());
        Files.writeString(Path.of(args[4]), context.getBean(Approvals.class).handle("r"));
        service.send("script", "end", Duration.ofMillis(500));
      }
      // Nothing else keeps it alive until its job ends it.
      Thread.currentThread().join();
    }
  }
}
