package io.punctual.benchmark;

import io.punctual.systemtest.Http;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** W: what it costs to be watched, all that is counted against nothing. */
final class Watching {

  private static final List<String> WORK = List.of("A2", "C", "B");

  private final Machine machine;

  Watching(Machine machine) {
    this.machine = machine;
  }

  void run() throws Exception {
    machine.service(
        List.of("--management.metrics.enable.punctual=false"),
        around -> machine.contest("punctual:unwatched", WORK, around));
    machine.service(
        List.of(),
        around -> {
          try (ScheduledExecutorService scraper = Executors.newSingleThreadScheduledExecutor()) {
            var scrapes =
                scraper.scheduleAtFixedRate(
                    () -> scrape(around.schedulers()), 1, 1, TimeUnit.SECONDS);
            try {
              machine.contest("punctual:watched", WORK, around);
            } finally {
              scrapes.cancel(true);
            }
          }
        });
  }

  private static void scrape(String scheduler) {
    try {
      Http.getText(scheduler + "/actuator/prometheus");
    } catch (Exception e) {
      throw new IllegalStateException("the metrics of " + scheduler + " could not be read", e);
    }
  }
}
