package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobSearch;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** Finds jobs in all queues that a search may mean, page by page. */
@Component
class JobFinder {

  static final int PAGE = 50;

  /** Queues that one step asks for an id, since no index knows the queue of an id. */
  private static final int MAX_ASKED = 200;

  /** Most steps of a page while a search for an id or a tag has found no job. */
  private static final int MAX_STEPS = 25;

  private static final long MAX_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final char GAP = '|';
  private static final String GAP_TEXT = "|";

  /** Later than any job, epoch ms. */
  static final long LATEST = 9_999_999_999_999L;

  private final Engine engine;
  private final JobSearch search;
  private final QueueStatistics statistics;
  private final LongSupplier nanos;

  @Autowired
  JobFinder(Engine engine, JobSearch search, QueueStatistics statistics) {
    this(engine, search, statistics, System::nanoTime);
  }

  JobFinder(Engine engine, JobSearch search, QueueStatistics statistics, LongSupplier nanos) {
    this.engine = engine;
    this.search = search;
    this.statistics = statistics;
    this.nanos = nanos;
  }

  /**
   * A page of what was found.
   *
   * @param next where to go on; null at the end
   * @param cut whether it ended early, so that there may be more
   */
  record Page(List<JobView> jobs, @Nullable String next, boolean cut) {}

  /**
   * Finds jobs. A search for an id or a tag goes through the queues until it has found a job, for
   * about half a second.
   *
   * @throws ApiException 400 for what cannot be looked for
   */
  Page find(JobQuery query, @Nullable String cursor) {
    if (query.wantedId() == null && query.wantedTag() == null) {
      return byTime(query, cursor);
    }
    long start = nanos.getAsLong();
    Page page = byName(query, cursor);
    for (int step = 1;
        step < MAX_STEPS
            && page.jobs().isEmpty()
            && page.next() != null
            && nanos.getAsLong() - start < MAX_NS;
        step++) {
      page = byName(query, page.next());
    }
    return page;
  }

  /** One word may be an id or a tag: all queues are asked for the id first, then for the tag. */
  private Page byName(JobQuery query, @Nullable String cursor) {
    String tag = query.id() == null ? query.wantedTag() : null;
    if (query.wantedId() == null) {
      return byTag(query, Objects.requireNonNull(tag), cursor);
    }
    boolean tags = tag != null && cursor != null && cursor.startsWith(GAP_TEXT);
    Page ids = tags ? new Page(List.of(), null, false) : byId(query, cursor);
    if (tag == null || ids.next() != null) {
      return ids;
    }
    Page tagged = byTag(query, tag, tags ? Objects.requireNonNull(cursor).substring(1) : null);
    List<JobView> found = new ArrayList<>(ids.jobs());
    tagged.jobs().stream()
        .filter(
            job ->
                ids.jobs().stream()
                    .noneMatch(
                        known ->
                            known.queue().equals(job.queue())
                                && known.taskId().equals(job.taskId())))
        .forEach(found::add);
    return new Page(found, tagged.next() == null ? null : GAP_TEXT + tagged.next(), tagged.cut());
  }

  /**
   * The numbers of jobs in the queues that a search selects, regardless of its other words.
   *
   * @param queues how many queues are counted
   * @param damaged how many are not counted, because their keys are damaged
   */
  record Counts(int queues, long waiting, long reserved, long dead, int damaged) {}

  /** Counts jobs. */
  Counts count(JobQuery query) {
    List<QueueSample> rows = rows(queues(query));
    List<QueueSample> whole = rows.stream().filter(row -> !row.damaged()).toList();
    return new Counts(
        whole.size(),
        whole.stream().mapToLong(row -> row.stats().delayed()).sum(),
        whole.stream().mapToLong(row -> row.stats().reserved()).sum(),
        whole.stream().mapToLong(row -> row.stats().dead()).sum(),
        rows.size() - whole.size());
  }

  /** Returns how many of the queues that a search leaves are damaged. */
  int damaged(JobQuery query) {
    Set<QueueName> damaged = engine.scanners().damaged().keySet();
    return (int) queues(query).stream().filter(damaged::contains).count();
  }

  /** Returns a new sample of a single queue, or the latest samples of several. */
  private List<QueueSample> rows(List<QueueName> queues) {
    boolean one = queues.size() == 1;
    Map<QueueName, QueueSample> known = one ? Map.of() : statistics.all().queues();
    return queues.stream()
        .flatMap(
            queue ->
                (one ? statistics.look(queue) : Optional.ofNullable(known.get(queue))).stream())
        .toList();
  }

  private List<QueueName> queues(JobQuery query) {
    return engine.queues().keySet().stream()
        .filter(
            queue -> query.application() == null || queue.application().equals(query.application()))
        .filter(queue -> query.taskType() == null || queue.taskType().equals(query.taskType()))
        .sorted()
        .toList();
  }

  private Page byId(JobQuery query, @Nullable String cursor) {
    String id = query.wantedId();
    List<JobView> found = new ArrayList<>();
    List<QueueName> queues =
        id == null || !Limits.isTaskId(id)
            ? List.of()
            : queues(query).stream()
                .filter(queue -> cursor == null || queue.toString().compareTo(cursor) > 0)
                .sorted(Comparator.comparing(QueueName::toString))
                .toList();
    List<QueueName> asked = queues.subList(0, Math.min(MAX_ASKED, queues.size()));
    for (QueueName queue : asked) {
      try {
        engine.find(queue, String.valueOf(id)).ifPresent(found::add);
      } catch (StoreException e) {
        // A damaged queue hides no job of another one; the first line counts it.
        if (e.kind() != StoreException.Kind.CORRUPT || queues.size() == 1) {
          throw e;
        }
      }
    }
    boolean cut = asked.size() < queues.size();
    return new Page(found, cut ? asked.get(asked.size() - 1).toString() : null, cut);
  }

  private Page byTag(JobQuery query, String tag, @Nullable String cursor) {
    List<String> applications =
        query.application() != null ? List.of(query.application()) : statistics.applications();
    return through(
        applications,
        cursor,
        (application, place, max, calls) ->
            search.find(
                new JobFilter(
                    application,
                    query.taskType(),
                    query.state(),
                    tag,
                    query.from(),
                    query.until(),
                    query.failed()),
                place,
                max,
                calls));
  }

  /** Of all queues together: what is due first, and the error of this morning, come first. */
  private Page byTime(JobQuery query, @Nullable String cursor) {
    JobFilter.State state = query.state() == null ? JobFilter.State.DELAYED : query.state();
    OrderedJobs.Found found =
        OrderedJobs.find(
            engine,
            new OrderedJobs.Wanted(
                state,
                Objects.requireNonNullElse(query.from(), 0L),
                Objects.requireNonNullElse(query.until(), LATEST),
                query.failed()),
            sources(queues(query), state),
            cursor == null ? null : place(cursor),
            PAGE,
            StoreCalls.ofRequest());
    OrderedJobs.Place next = found.next();
    return new Page(
        found.jobs(),
        next == null ? null : next.at() + GAP_TEXT + next.queue() + GAP_TEXT + next.taskId(),
        !found.ended() && found.jobs().size() < PAGE);
  }

  private static OrderedJobs.Place place(String cursor) {
    String[] parts = cursor.split("\\" + GAP, 3);
    if (parts.length != 3 || !parts[0].matches("\\d{1,16}")) {
      throw ApiException.invalid("cursor", "belongs to another search");
    }
    return new OrderedJobs.Place(Long.parseLong(parts[0]), parts[1], parts[2]);
  }

  /**
   * Returns the queues to read. A single queue is always read, and reports damage. Of several,
   * those without such jobs and those that are damaged are left out, as far as the samples say.
   */
  private List<OrderedJobs.Source> sources(List<QueueName> queues, JobFilter.State state) {
    if (queues.size() == 1) {
      return List.of(new OrderedJobs.Source(queues.get(0), /* first= */ null));
    }
    Map<QueueName, QueueSample> known = statistics.all().queues();
    List<OrderedJobs.Source> sources = new ArrayList<>();
    for (QueueName queue : queues) {
      QueueSample row = known.get(queue);
      if (row == null || (count(row, state) > 0 && !row.damaged())) {
        sources.add(new OrderedJobs.Source(queue, row == null ? null : first(row, state)));
      }
    }
    return sources;
  }

  private static @Nullable Long first(QueueSample row, JobFilter.State state) {
    return switch (state) {
      case DELAYED, READY ->
          row.stats().oldestReady() != null ? row.stats().oldestReady() : row.stats().nextDue();
      case RESERVED -> null;
      case DEAD -> row.stats().lastDeath();
    };
  }

  private static long count(QueueSample row, JobFilter.State state) {
    return switch (state) {
      case DELAYED -> row.stats().delayed();
      case READY -> row.stats().ready();
      case RESERVED -> row.stats().reserved();
      case DEAD -> row.stats().dead();
    };
  }

  /** Looks at one place. */
  private interface Look {
    JobSearch.Found at(String name, @Nullable String cursor, int max, StoreCalls calls);
  }

  /** One place after the other; the cursor names the place and where in it. */
  private static Page through(List<String> names, @Nullable String cursor, Look look) {
    int gap = cursor == null ? -1 : cursor.indexOf(GAP);
    String first = cursor == null ? "" : gap < 0 ? cursor : cursor.substring(0, gap);
    String inside = cursor == null || gap < 0 ? null : cursor.substring(gap + 1);
    List<JobView> found = new ArrayList<>();
    StoreCalls calls = StoreCalls.ofRequest();
    for (String name : names) {
      int order = name.compareTo(first);
      if (order < 0) {
        continue;
      }
      JobSearch.Found some = look.at(name, order == 0 ? inside : null, PAGE - found.size(), calls);
      found.addAll(some.jobs());
      boolean full = found.size() >= PAGE;
      if (some.next() != null) {
        return new Page(found, name + GAP + some.next(), !full);
      } else if (full || calls.areUsedUp()) {
        String after = after(names, name);
        return new Page(found, after, !full && after != null);
      }
    }
    return new Page(found, null, false);
  }

  private static @Nullable String after(List<String> names, String name) {
    return names.stream().filter(other -> other.compareTo(name) > 0).findFirst().orElse(null);
  }
}
