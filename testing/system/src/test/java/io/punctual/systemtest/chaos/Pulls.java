package io.punctual.systemtest.chaos;

import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.Execution;
import io.punctual.systemtest.Fault;
import io.punctual.systemtest.Http;
import io.punctual.systemtest.Puller;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;

/**
 * Workers that fetch jobs through any scheduler, beside those that are pushed, and finish, fail or
 * give back what they get. They tell the end again, to any scheduler, until one answers.
 */
final class Pulls implements AutoCloseable {

  private static final int TELLS = 6;

  private final Puller puller;
  private final String type;
  private final String timeToRun;
  private final List<String> schedulers;
  private final Collection<Fault> lost = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean over;

  Pulls(String application, String type, String timeToRun, List<String> schedulers) {
    this.puller = new Puller(application);
    this.type = type;
    this.timeToRun = timeToRun;
    this.schedulers = schedulers;
  }

  /** Begins; goes on until {@link #close}. */
  Pulls start(int workers) {
    for (int i = 0; i < workers; i++) {
      threads.execute(this::pull);
    }
    return this;
  }

  private void pull() {
    RandomGenerator random = RandomGenerator.getDefault();
    while (!over) {
      try {
        for (Puller.Pulled job :
            puller.pull(any(random), List.of(type), timeToRun, /* max= */ 2, "1s")) {
          run(job, random);
        }
      } catch (IOException ignored) {
        // A claim whose answer was lost comes back when its time is over.
      }
    }
  }

  private void run(Puller.Pulled job, RandomGenerator random) {
    int what = random.nextInt(4);
    if (what == 0) {
      tell(job, "release", "{\"delay\":100}", random);
      return;
    }
    boolean fails = what == 1;
    Puller.Run run = puller.begin(job);
    puller.end(run, fails ? Execution.Ending.FAILED : Execution.Ending.DONE);
    long from = EpochMicros.now();
    if (!tell(job, fails ? "nack" : "ack", fails ? "{\"delay\":200}" : "", random)) {
      lost.add(
          new Fault(
              "a puller's answer is lost",
              from,
              EpochMicros.now(),
              Fault.Effect.REPEATS,
              any -> any.run().equals(run.number())));
    }
  }

  /** Whether the first answer was there: after a lost one, the outcome is unknown. */
  private boolean tell(Puller.Pulled job, String what, String body, RandomGenerator random) {
    for (int i = 0; i < TELLS; i++) {
      try {
        Http.Answer answer = Puller.tell(any(random), job.token(), what, body);
        if (answer.status() < 500) {
          return i == 0;
        }
      } catch (IOException ignored) {
        // The way to that scheduler is broken; it may be another one's turn.
      }
    }
    return false;
  }

  private String any(RandomGenerator random) {
    return schedulers.get(random.nextInt(schedulers.size()));
  }

  Collection<Execution> executions() {
    return puller.executions();
  }

  /** Returns what broke for single runs: their end did not reach a scheduler at once. */
  Collection<Fault> lostAnswers() {
    return lost;
  }

  @Override
  public void close() {
    over = true;
    threads.close();
  }
}
