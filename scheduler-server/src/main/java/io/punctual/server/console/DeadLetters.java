package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.Operations.Listed;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Dead letters by what killed them: the same error with other numbers in it is the same error. */
@Component
class DeadLetters {

  private static final int QUEUES = 50;
  private static final int GROUPS = 200;
  private static final int MAX_TEXT = 160;
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
   * Dead letters of one queue with one error.
   *
   * @param error the last error, with what varies left out
   * @param part a piece of it that all of them have; null where none is long enough
   * @param count as far as was looked
   * @param newest epoch ms of the last death
   * @param example one of them
   */
  record Group(
      QueueName queue,
      String error,
      @Nullable String part,
      int count,
      long newest,
      String example) {

    /** The words that find them, and those of other groups where there is no part. */
    public String query() {
      String words = JobQuery.of(queue.application(), queue.taskType(), "dead");
      return part == null ? words : words + " error:\"" + part + "\"";
    }
  }

  /**
   * What was found.
   *
   * @param total of all queues
   * @param looked at how many of them
   */
  record Found(List<Group> groups, long total, long looked) {}

  Found find() {
    QueueStatistics.Snapshot now = statistics.all();
    List<QueueSample> rows =
        now.all().stream()
            .filter(row -> row.stats().dead() > 0 && !row.damaged())
            .sorted(Comparator.comparingLong((QueueSample row) -> row.stats().dead()).reversed())
            .toList();
    Deque<Part> left =
        rows.stream()
            .limit(QUEUES)
            .map(Part::new)
            .collect(Collectors.toCollection(ArrayDeque::new));
    List<Part> ended = new ArrayList<>();
    StoreCalls calls = StoreCalls.ofRequest();
    long looked = 0;
    // A page of each queue, then another one of each.
    while (!left.isEmpty() && !calls.areUsedUp()) {
      Part part = left.removeFirst();
      Listed<Cursor> page =
          engine.operations().jobs(part.queue, JobState.DEAD, part.after, JobStore.MAX_JOBS);
      calls.count(page.calls());
      looked += page.jobs().size();
      page.jobs().forEach(part::add);
      part.after = page.next();
      Collection<Part> rest = part.after == null ? ended : left;
      rest.add(part);
    }
    ended.addAll(left);
    List<Group> groups =
        ended.stream()
            .flatMap(part -> part.groups.values().stream())
            .sorted(Comparator.comparingInt(Group::count).reversed())
            .limit(GROUPS)
            .toList();
    return new Found(groups, rows.stream().mapToLong(row -> row.stats().dead()).sum(), looked);
  }

  /** One queue, as far as it was looked at. */
  private static final class Part {

    private final QueueName queue;
    private final Map<String, Group> groups = new LinkedHashMap<>();
    private @Nullable Cursor after;

    Part(QueueSample row) {
      this.queue = row.queue();
    }

    void add(JobView job) {
      JobView.Failure last = job.lastFailure();
      String message = last == null ? "" : last.message();
      String error = normal(message);
      groups.merge(
          error,
          new Group(queue, error, part(message, error), 1, job.at(), job.taskId()),
          (old, one) ->
              new Group(
                  queue,
                  error,
                  old.part(),
                  old.count() + 1,
                  Math.max(old.newest(), one.newest()),
                  one.example()));
    }
  }

  static String normal(String message) {
    String first = message.lines().findFirst().orElse("");
    String same = VARYING.matcher(first).replaceAll("#");
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
