package io.punctual.systemtest.chaos;

import io.punctual.systemtest.Execution;
import io.punctual.systemtest.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * What happened when, in two files for people: {@code faults.record} has a line for each fault
 * (begin, end, what broke, whom it hit), written at once, {@code runs.record} one for each run
 * (begin, end, how it ended, task id, process and number, schedulers that had sent it), by their
 * beginning. A hyphen stands for what is not known.
 */
final class Chronicle {

  private final Path faults;
  private final Path runs;

  /** Begins both anew. */
  Chronicle(Path directory) throws IOException {
    faults = Files.writeString(directory.resolve("faults.record"), "");
    runs = Files.writeString(directory.resolve("runs.record"), "");
  }

  void add(Fault fault) throws IOException {
    Files.writeString(
        faults,
        "%s %s %s %s%n"
            .formatted(time(fault.from()), time(fault.until()), fault.what(), fault.hit()),
        StandardOpenOption.APPEND);
  }

  void write(Collection<Execution> executions) throws IOException {
    List<String> lines =
        executions.stream()
            .sorted(Comparator.comparingLong(Execution::begin))
            .map(Chronicle::line)
            .toList();
    Files.write(runs, lines);
  }

  private static String line(Execution run) {
    Long end = run.end();
    return "%s %s %s %s %s %s"
        .formatted(
            time(run.begin()),
            end == null ? "-" : time(end),
            run.ending() == null ? "-" : run.ending(),
            run.taskId(),
            run.run(),
            run.senders().isEmpty() ? "-" : String.join(",", run.senders()));
  }

  private static Instant time(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
