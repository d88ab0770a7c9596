package io.punctual.server.health;

import io.punctual.server.health.Finding.Code;
import io.punctual.server.health.Finding.Subject;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.probe.ProbeResult;
import io.punctual.server.probe.Status;
import io.punctual.server.probe.WorkerReport;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Judges instances: the one place that says which state each has, and which fail too often. */
public final class InstanceHealth {

  private static final int TIMES = 5;

  private InstanceHealth() {}

  /** The states of an instance, the worst first. */
  public enum State {
    /** Its last probe found a problem: it gets no jobs. */
    PROBLEM,
    /** Calls with jobs did not get through or were not answered in time: it is left alone now. */
    AVOIDED,
    /** Its last probe found something that an operator should check. */
    WARNING,
    /** At least 10 % of at least 20 attempts of the last 15 minutes failed. */
    FAILING,
    /** It has not been probed yet, and no problem is known. */
    UNPROBED,
    /** Its last probe found no problem, and none is known. */
    WELL;

    /** Returns the name that the API has for it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns whether an operator should check the instance. */
    public boolean isBad() {
      return compareTo(UNPROBED) < 0;
    }
  }

  /** Returns the worst state that an instance is in. */
  public static State state(WorkerReport report) {
    ProbeResult probe = report.probe();
    Status status = probe == null ? Status.OK : probe.status();
    if (status == Status.PROBLEM) {
      return State.PROBLEM;
    } else if (report.avoidedUntil() != null) {
      return State.AVOIDED;
    } else if (status == Status.WARNING) {
      return State.WARNING;
    } else if (isFailing(report)) {
      return State.FAILING;
    }
    return probe == null ? State.UNPROBED : State.WELL;
  }

  /**
   * An instance that fails far more often than the others of its application.
   *
   * @param median the failed share of the instance in the middle, in percent
   */
  public record Outlier(WorkerReport instance, double median) {

    Finding finding() {
      String release = instance.release();
      return Finding.of(
          Code.OUTLIER,
          "",
          Status.WARNING,
          Subject.of(instance.application()),
          "instance",
          instance.instance() + (release == null ? "" : ", release " + release),
          "percent",
          Long.toString((long) instance.attempts().failedShare()),
          "ended",
          Long.toString(instance.attempts().ended()),
          "application",
          instance.application(),
          "median",
          Long.toString((long) median));
    }
  }

  /**
   * Returns those of which at least 10 % of at least 20 attempts failed, and at least five times
   * the median of the instances of their application that had as many attempts. Of an even number
   * of instances the lower middle one counts, so that one of two can be found.
   */
  public static List<Outlier> outliers(Collection<WorkerReport> reports) {
    Map<String, List<WorkerReport>> applications =
        reports.stream()
            .filter(report -> report.attempts().ended() >= QueueSample.FAILING_ATTEMPTS)
            .sorted(Comparator.comparingDouble(report -> report.attempts().failedShare()))
            .collect(
                Collectors.groupingBy(
                    WorkerReport::application, TreeMap::new, Collectors.toList()));
    List<Outlier> outliers = new ArrayList<>();
    for (List<WorkerReport> sorted : applications.values()) {
      double median = sorted.get((sorted.size() - 1) / 2).attempts().failedShare();
      double least = Math.max(QueueSample.FAILING_PERCENT, TIMES * median);
      sorted.stream()
          .filter(report -> report.attempts().failedShare() >= least)
          .map(report -> new Outlier(report, median))
          .forEach(outliers::add);
    }
    return outliers;
  }

  /** Returns whether at least 10 % of at least 20 attempts of an instance failed. */
  public static boolean isFailing(WorkerReport report) {
    return report.attempts().ended() >= QueueSample.FAILING_ATTEMPTS
        && report.attempts().failedShare() >= QueueSample.FAILING_PERCENT;
  }

  /**
   * Returns the keys of the {@link #outliers} whose release is at fault: all instances of that
   * release with at least 20 attempts are outliers, and an instance of another release with at
   * least 20 attempts is not.
   */
  public static Set<String> instancesOfBadReleases(Collection<WorkerReport> reports) {
    Set<String> outliers = outlierKeys(reports);
    Map<String, Map<String, Boolean>> bad =
        reports.stream()
            .filter(
                report ->
                    report.release() != null
                        && report.attempts().ended() >= QueueSample.FAILING_ATTEMPTS)
            .collect(
                Collectors.groupingBy(
                    WorkerReport::application,
                    Collectors.toMap(
                        report -> String.valueOf(report.release()),
                        report -> outliers.contains(report.key()),
                        (one, other) -> one && other)));
    return reports.stream()
        .filter(report -> outliers.contains(report.key()))
        .filter(
            report -> {
              Map<String, Boolean> releases = bad.getOrDefault(report.application(), Map.of());
              return releases.containsValue(false)
                  && releases.getOrDefault(String.valueOf(report.release()), false);
            })
        .map(WorkerReport::key)
        .collect(Collectors.toSet());
  }

  /** Returns the keys of the {@link #outliers}. */
  public static Set<String> outlierKeys(Collection<WorkerReport> reports) {
    return outliers(reports).stream()
        .map(outlier -> outlier.instance().key())
        .collect(Collectors.toSet());
  }
}
