package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.metrics.FailurePlace;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.metrics.RecentErrors;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private static final long HOUR_MS = Duration.ofHours(1).toMillis();

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
      @Nullable FailurePlace place,
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
    OrderedJobs.Found found =
        OrderedJobs.find(
            engine,
            new OrderedJobs.Wanted(
                JobFilter.State.DEAD, 0, JobFinder.LATEST, JobFilter.Failed.with(null)),
            asked.stream()
                .map(row -> new OrderedJobs.Source(row.queue(), row.stats().lastDeath()))
                .toList(),
            /* after= */ null,
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
                    job -> RecentErrors.normal(message(job)),
                    LinkedHashMap::new,
                    Collectors.toList()))
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
        RecentErrors.first(message(newest)),
        part(message(newest), error),
        jobs.size(),
        newest.at(),
        inHour,
        all && inHour == jobs.size(),
        FailurePlace.of(
            jobs.stream()
                .flatMap(job -> Optional.ofNullable(job.lastFailure()).stream())
                .map(last -> new ErrorNote(last.instance(), last.release(), last.message()))
                .toList(),
            jobs.size()),
        sorted);
  }

  private static String message(JobView job) {
    JobView.Failure last = job.lastFailure();
    return last == null ? "" : last.message();
  }

  /** The longest piece between what varies; the quote would end the word in a search. */
  static @Nullable String part(String message, String normal) {
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
