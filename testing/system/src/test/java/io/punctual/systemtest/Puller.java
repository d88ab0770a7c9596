package io.punctual.systemtest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Fetches jobs over REST as any program would, and writes down what it runs of them. */
public final class Puller {

  private final String application;
  private final AtomicInteger runs = new AtomicInteger();
  private final Collection<Execution> executions = new ConcurrentLinkedQueue<>();

  /** A job in its hands. */
  public record Pulled(String taskId, String params, String token) {}

  /** A run that has begun. */
  public record Run(String number, Pulled job, long begin) {}

  public Puller(String application) {
    this.application = application;
  }

  /** Fetches what is due. */
  List<Pulled> pull(JavaProcess scheduler, List<String> taskTypes, String timeToRun)
      throws IOException {
    return pull(scheduler.url(), taskTypes, timeToRun, 50, "0s");
  }

  /**
   * Fetches what is due from the scheduler at an address.
   *
   * @param max most jobs
   * @param wait how long to wait for the first one
   */
  public List<Pulled> pull(
      String scheduler, List<String> taskTypes, String timeToRun, int max, String wait)
      throws IOException {
    Http.Answer answer =
        Http.post(
            scheduler + "/api/v1/claims",
            """
            {"application":"%s","taskTypes":["%s"],"max":%d,"timeToRun":"%s","wait":"%s"}\
            """
                .formatted(application, String.join("\",\"", taskTypes), max, timeToRun, wait));
    List<Pulled> jobs = new ArrayList<>();
    if (answer.status() == 200) {
      for (JsonNode job : answer.json().get("jobs")) {
        jobs.add(
            new Pulled(
                job.get("taskId").stringValue(),
                job.get("params").stringValue(),
                job.get("token").stringValue()));
      }
    }
    return jobs;
  }

  /** The work begins. */
  public Run begin(Pulled job) {
    Run run = new Run("0-" + runs.incrementAndGet(), job, EpochMicros.now());
    executions.add(execution(run, null, null));
    return run;
  }

  /** The work has ended; nobody knows yet. */
  public void end(Run run, Execution.Ending how) {
    executions.removeIf(execution -> execution.run().equals(run.number()));
    executions.add(execution(run, EpochMicros.now(), how));
  }

  private static Execution execution(Run run, @Nullable Long end, Execution.@Nullable Ending how) {
    Pulled job = run.job();
    int version = Execution.versionOf(job.params().split(" ", 2)[0]);
    return new Execution(
        run.number(), job.taskId(), Set.of(), run.begin(), run.begin(), end, how, version);
  }

  /**
   * Tells a scheduler about a job.
   *
   * @param what ack, nack, reject, release or extend
   */
  Http.Answer tell(JavaProcess scheduler, Pulled job, String what, String body) throws IOException {
    return tell(scheduler, job.token(), what, body);
  }

  /** The same with a token that came in another way. */
  static Http.Answer tell(JavaProcess scheduler, String token, String what, String body)
      throws IOException {
    return tell(scheduler.url(), token, what, body);
  }

  /** The same through an address. */
  public static Http.Answer tell(String scheduler, String token, String what, String body)
      throws IOException {
    return Http.post(scheduler + "/api/v1/claims/" + token + "/" + what, body);
  }

  public Collection<Execution> executions() {
    return executions;
  }
}
