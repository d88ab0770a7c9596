package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The newest dead letters of all queues by what killed them: the same error with other numbers in
 * it is the same error, whatever the queue.
 */
@Component
class DeadLetters {

  private static final int QUEUES = 50;
  private static final int JOBS = 1_000;
  private static final int MAX_TEXT = 160;
  private static final double HALF = 50;
  // A factor of the share that each instance would have if all failed equally.
  private static final double STANDS_OUT = 1.5;
  private static final long HOUR_MS = Duration.ofHours(1).toMillis();
  private static final Pattern VARYING =
      Pattern.compile(
          "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\\b[0-9a-fA-F]{12,}\\b|\\d+");

  private final Engine engine;
  private final QueueStatistics statistics;

  DeadLetters(Engine engine, QueueStatistics statistics) {
    this.engine = engine;
    this.statistics = statistics;
  }

  /**
   * Dead letters with one error.
   *
   * @param text the last error of the newest
   * @param error the first line of it
   * @param part a piece of it that all of them have; null where none is long enough
   * @param newest epoch ms of the last death
   * @param inHour how many of them died within the last hour
   * @param isNew whether the first of them died within the last hour; false where that is not known
   * @param place where at least half of their last attempts failed; null if none stands out
   * @param queues theirs, with their number in each, the most first
   */
  record Group(
      String text,
      String error,
      @Nullable String part,
      int count,
      long newest,
      int inHour,
      boolean isNew,
      @Nullable Place place,
      Map<QueueName, Long> queues) {

    /**
     * The words that find those of each queue, and those of other groups where there is no part.
     */
    public List<String> queries() {
      return queues.keySet().stream()
          .map(queue -> JobQuery.of(queue.application(), queue.taskType(), "dead") + words())
          .toList();
    }

    /** The queue that has the most of them. */
    public QueueName most() {
      return queues.keySet().iterator().next();
    }

    /** The searches for them as one value of a form, a line each. */
    public String search() {
      return String.join("\n", queries());
    }

    /** The words that find them in all queues. */
    public String query() {
      return queues.size() == 1 ? queries().get(0) : "state:dead" + words();
    }

    private String words() {
      return part == null ? "" : " error:\"" + part + "\"";
    }
  }

  /**
   * Where dead letters failed last.
   *
   * @param percent how many of the group, rounded down; at least 50
   * @param instance empty if they failed at several ones of the release
   * @param release empty if it is not known
   */
  record Place(int percent, String instance, String release) {

    /** The end of the key of its text. */
    public String kind() {
      return instance.isEmpty() ? "ofRelease" : release.isEmpty() ? "at" : "atRelease";
    }

    private static @Nullable Place of(List<JobView> jobs) {
      long instances =
          jobs.stream()
              .flatMap(job -> Optional.ofNullable(job.lastFailure()).stream())
              .map(JobView.Failure::instance)
              .distinct()
              .count();
      // Of two instances that fail equally, one has at least half of the failures.
      double least = instances < 2 ? HALF : Math.max(HALF, STANDS_OUT * 100 / instances);
      Place at = most(jobs, least, last -> new Place(0, last.instance(), last.release()));
      return at != null ? at : most(jobs, HALF, last -> new Place(0, "", last.release()));
    }

    private static @Nullable Place most(
        List<JobView> jobs, double least, Function<JobView.Failure, Place> place) {
      Map<Place, Long> places =
          jobs.stream()
              .flatMap(job -> Optional.ofNullable(job.lastFailure()).stream())
              .collect(Collectors.groupingBy(place, Collectors.counting()));
      return places.entrySet().stream()
          .filter(one -> one.getValue() * 100 >= least * jobs.size())
          .filter(one -> !one.getKey().instance.isEmpty() || !one.getKey().release.isEmpty())
          .max(Map.Entry.comparingByValue())
          .map(
              one ->
                  new Place(
                      (int) (one.getValue() * 100 / jobs.size()),
                      one.getKey().instance,
                      one.getKey().release))
          .orElse(null);
    }
  }

  /**
   * What was found.
   *
   * @param total of all queues
   * @param queues how many queues have dead letters
   * @param inHour how many of all died within the last hour
   * @param looked how many of the newest the groups are made of
   */
  record Found(List<Group> groups, long total, int queues, long inHour, long looked) {}

  /**
   * Finds the newest dead letters.
   *
   * @param most whether the largest group comes first; else the one with the newest
   */
  Found find(boolean most) {
    QueueStatistics.Snapshot now = statistics.all();
    List<QueueSample> rows =
        now.all().stream()
            .filter(row -> row.stats().lastDeath() != null && !row.damaged())
            .sorted(Comparator.comparing((QueueSample row) -> row.stats().lastDeath()).reversed())
            .toList();
    List<QueueSample> asked = rows.subList(0, Math.min(QUEUES, rows.size()));
    NewestDeaths.Found found =
        NewestDeaths.find(
            engine,
            asked,
            NewestDeaths.Place.since(JobFinder.LATEST),
            0,
            JobFilter.Failed.with(null),
            JOBS,
            StoreCalls.ofRequest());
    long hourAgo = now.now() - HOUR_MS;
    List<JobView> jobs = found.jobs();
    // Else an error may have an older one among those that were not looked at.
    boolean all =
        found.next() == null
            && asked.size() == rows.size()
            && now.all().stream().noneMatch(QueueSample::damaged);
    Comparator<Group> order = Comparator.comparingLong(Group::newest);
    List<Group> groups =
        jobs.stream()
            .collect(
                Collectors.groupingBy(
                    job -> normal(message(job)), LinkedHashMap::new, Collectors.toList()))
            .entrySet()
            .stream()
            .map(group -> group(group.getKey(), group.getValue(), hourAgo, all))
            .sorted((most ? Comparator.comparingInt(Group::count) : order).reversed())
            .toList();
    return new Found(
        groups,
        now.sum(row -> row.damaged() ? 0 : row.stats().dead()),
        rows.size(),
        now.sum(row -> row.damaged() ? 0 : row.stats().deadInHour()),
        jobs.size());
  }

  private static Group group(String error, List<JobView> jobs, long hourAgo, boolean all) {
    JobView newest = jobs.get(0);
    int inHour = (int) jobs.stream().filter(job -> job.at() >= hourAgo).count();
    Map<QueueName, Long> queues =
        jobs.stream().collect(Collectors.groupingBy(JobView::queue, Collectors.counting()));
    Map<QueueName, Long> sorted = new LinkedHashMap<>();
    queues.entrySet().stream()
        .sorted(
            Map.Entry.<QueueName, Long>comparingByValue()
                .reversed()
                .thenComparing(Map.Entry.comparingByKey()))
        .forEach(queue -> sorted.put(queue.getKey(), queue.getValue()));
    return new Group(
        message(newest),
        first(message(newest)),
        part(message(newest), error),
        jobs.size(),
        newest.at(),
        inHour,
        all && inHour == jobs.size(),
        Place.of(jobs),
        sorted);
  }

  private static String message(JobView job) {
    JobView.Failure last = job.lastFailure();
    return last == null ? "" : last.message();
  }

  private static String first(String message) {
    String line = message.lines().findFirst().orElse("");
    return line.length() > MAX_TEXT ? line.substring(0, MAX_TEXT) : line;
  }

  private static String normal(String message) {
    String same = VARYING.matcher(message.lines().findFirst().orElse("")).replaceAll("#");
    return same.length() > MAX_TEXT ? same.substring(0, MAX_TEXT) : same;
  }

  /** The longest piece between what varies; the quote would end the word in a search. */
  private static @Nullable String part(String message, String normal) {
    String longest = "";
    for (String piece : normal.split("[#\"]", -1)) {
      String plain = piece.strip();
      if (plain.length() > longest.length() && message.contains(plain) && !Shown.hasUnseen(plain)) {
        longest = plain;
      }
    }
    return longest.length() < 4 ? null : longest;
  }
}
