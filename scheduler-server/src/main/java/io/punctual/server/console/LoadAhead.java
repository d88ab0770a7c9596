package io.punctual.server.console;

import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.Forecast;
import io.punctual.server.history.History;
import io.punctual.server.history.Span;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.work.SharedRead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * Compares the jobs that fall due with the most jobs done in the last day, and with the rates of
 * queues. All viewers share one read of all queues.
 */
@Component
class LoadAhead {

  private static final Duration FRESH = Duration.ofSeconds(10);
  private static final Duration UNCHANGED = Duration.ofMinutes(1);
  // How many queues are read one by one, and how many of them are named.
  private static final int LOOKED = 20;
  private static final int NAMED = 5;
  private static final long LATE_MS = 60_000;
  private static final long SLACK_MS = 300_000;

  /**
   * How far ahead, and in intervals of which length; each has some finer steps, which show a burst.
   */
  enum Ahead {
    HOUR("1h", Duration.ofMinutes(1), 60, 3),
    DAY("24h", Duration.ofMinutes(30), 48, 4),
    WEEK("168h", Duration.ofHours(3), 56, 3);

    private final String word;
    private final Duration width;
    private final int count;
    private final int steps;

    Ahead(String word, Duration width, int count, int steps) {
      this.word = word;
      this.width = width;
      this.count = count;
      this.steps = steps;
    }

    /** The one of that word; an hour for another. */
    static Ahead of(String word) {
      return Arrays.stream(values())
          .filter(ahead -> ahead.word.equals(word))
          .findFirst()
          .orElse(HOUR);
    }

    /** Returns its name in addresses. */
    public String word() {
      return word;
    }
  }

  /**
   * A queue whose rate is less than what falls due.
   *
   * @param late how late its jobs would start, ms
   * @param at epoch ms when that is
   */
  record Limited(QueueSample queue, Throttle.Rate rate, long late, long at) {

    /** Returns how late in minutes, rounded up. */
    public long minutes() {
      return (late + LATE_MS - 1) / LATE_MS;
    }
  }

  /**
   * The jobs of one queue, or of all others.
   *
   * @param queue null for the others
   * @param counts jobs of each interval
   */
  record Part(@Nullable QueueName queue, List<Long> counts) {

    /** Returns how many jobs all intervals have. */
    public long jobs() {
      return counts.stream().mapToLong(Long::longValue).sum();
    }
  }

  /**
   * What falls due.
   *
   * @param words the search that finds the jobs, without their times; empty for all queues
   * @param from epoch ms at which the first interval begins; 0 without queues
   * @param width of an interval, ms
   * @param counts jobs of each interval
   * @param most for all queues, the most jobs done in an interval of that length in the last day;
   *     for one queue, how many jobs its rate lets start in an interval; null if that is not known,
   *     or the queue has no rate
   * @param limited the latest first
   * @param parts of the counts: the five largest queues, the largest first, and the others; empty
   *     for one queue, and where fewer than two queues have jobs
   */
  record Load(
      Ahead ahead,
      String words,
      long from,
      long width,
      List<Long> counts,
      @Nullable Long most,
      List<Limited> limited,
      List<Part> parts) {}

  /**
   * What was read.
   *
   * @param version of the queues, before
   * @param at monotonic ns
   */
  private record Known(Load load, long version, long at) {}

  private final QueueService queues;
  private final QueueStatistics statistics;
  private final History history;
  private final Map<Ahead, SharedRead<Known>> looks = new EnumMap<>(Ahead.class);
  private final Map<Ahead, Known> last = new ConcurrentHashMap<>();

  LoadAhead(QueueService queues, QueueStatistics statistics, History history) {
    this.queues = queues;
    this.statistics = statistics;
    this.history = history;
    for (Ahead ahead : Ahead.values()) {
      looks.put(ahead, new SharedRead<>(() -> look(ahead), FRESH));
    }
  }

  /**
   * Returns what falls due in all queues. The figures are at most ten seconds old, or a minute
   * while no queue changes; older if reads are slow.
   *
   * @throws io.punctual.core.store.StoreException if Redis does not answer
   */
  Load get(Ahead ahead) {
    Known known = last.get(ahead);
    long age = known == null ? Long.MAX_VALUE : System.nanoTime() - known.at();
    if (known == null
        || age > UNCHANGED.toNanos()
        || (age > FRESH.toNanos() && known.version() != statistics.all().version())) {
      known = Objects.requireNonNull(looks.get(ahead)).get();
      last.put(ahead, known);
    }
    return known.load();
  }

  private Known look(Ahead ahead) {
    QueueStatistics.Snapshot now = statistics.all();
    return new Known(look(ahead, now), now.version(), System.nanoTime());
  }

  private Load look(Ahead ahead, QueueStatistics.Snapshot now) {
    List<QueueName> some =
        now.all().stream()
            .filter(queue -> isDue(queue, ahead, now.now()))
            .map(QueueSample::queue)
            .toList();
    Forecast all =
        queues.forecast(
            some.isEmpty() ? now.queues().keySet().stream().limit(1).toList() : some,
            ahead.width,
            ahead.count);
    OptionalLong most = most(ahead);
    List<Limited> limited =
        now.all().stream()
            .filter(queue -> queue.stats().throttle().rate() != null && !queue.damaged())
            .filter(queue -> queue.stats().delayed() > 0)
            .sorted(
                Comparator.<QueueSample>comparingLong(queue -> queue.stats().delayed()).reversed())
            .limit(LOOKED)
            .flatMap(queue -> limited(queue, ahead))
            .sorted(Comparator.comparingLong(Limited::late).reversed())
            .limit(NAMED)
            .toList();
    return new Load(
        ahead,
        "",
        all.now(),
        ahead.width.toMillis(),
        all.counts(),
        most.isPresent() ? Long.valueOf(most.getAsLong()) : null,
        limited,
        parts(all, ahead, now));
  }

  // The others need not be read.
  private static boolean isDue(QueueSample queue, Ahead ahead, long now) {
    QueueStats stats = queue.stats();
    Long next = stats.nextDue();
    // The clock has gone on since the queues were looked at.
    return queue.damaged()
        || stats.ready() > 0
        || (next != null && next < now + SLACK_MS + ahead.width.toMillis() * ahead.count);
  }

  private List<Part> parts(Forecast all, Ahead ahead, QueueStatistics.Snapshot now) {
    List<Part> largest =
        now.all().stream()
            .filter(queue -> !queue.damaged() && isDue(queue, ahead, now.now()))
            .filter(queue -> queue.stats().delayed() > queue.stats().ready())
            .sorted(
                Comparator.<QueueSample>comparingLong(
                        queue -> queue.stats().delayed() - queue.stats().ready())
                    .reversed())
            .limit(LOOKED)
            .map(QueueSample::queue)
            .map(queue -> new Part(queue, forecast(queue, ahead.width, ahead.count).counts()))
            .filter(part -> part.jobs() > 0)
            .sorted(Comparator.comparingLong(Part::jobs).reversed())
            .limit(NAMED)
            .toList();
    List<Long> others = new ArrayList<>();
    for (int i = 0; i < all.counts().size(); i++) {
      int interval = i;
      long named = largest.stream().mapToLong(part -> part.counts().get(interval)).sum();
      // The queues were read a moment later than the total.
      others.add(Math.max(0, all.counts().get(i) - named));
    }
    Part rest = new Part(null, others);
    List<Part> parts =
        Stream.concat(largest.stream(), Stream.of(rest)).filter(part -> part.jobs() > 0).toList();
    return parts.size() < 2 ? List.of() : parts;
  }

  /**
   * Looks at what falls due in one queue.
   *
   * @throws io.punctual.core.store.StoreException if Redis does not answer
   */
  Load look(QueueSample queue, Ahead ahead) {
    QueueName name = queue.queue();
    Forecast own = forecast(name, ahead.width, ahead.count);
    Throttle.Rate rate = queue.stats().throttle().rate();
    return new Load(
        ahead,
        "app:" + name.application() + " type:" + name.taskType() + " ",
        own.now(),
        ahead.width.toMillis(),
        own.counts(),
        rate == null ? null : Long.valueOf(most(rate, ahead.width.toMillis())),
        rate == null ? List.of() : limited(queue, ahead).toList(),
        List.of());
  }

  private Forecast forecast(QueueName queue, Duration width, int count) {
    return queues.forecast(queue.application(), queue.taskType(), width, count).forecast();
  }

  // After a rest, a second's worth of jobs may start at once.
  private static long most(Throttle.Rate rate, long width) {
    long period = rate.period().toMillis();
    long burst = Math.max(period, rate.jobs() * Math.min(period, 1_000L));
    return Math.ceilDiv(rate.jobs() * width + burst - period, period);
  }

  private static double perMs(Throttle.Rate rate) {
    return (double) rate.jobs() / rate.period().toMillis();
  }

  // Without the history, the load is still known.
  private OptionalLong most(Ahead ahead) {
    try {
      return history.read(Span.DAY).most(ahead.width.toMillis());
    } catch (DataAccessException e) {
      return OptionalLong.empty();
    }
  }

  /** When the queue's jobs start latest if they go out at its rate. */
  private Stream<Limited> limited(QueueSample queue, Ahead ahead) {
    Throttle.Rate rate = Objects.requireNonNull(queue.stats().throttle().rate());
    Duration step = ahead.width.dividedBy(ahead.steps);
    Forecast own = forecast(queue.queue(), step, ahead.count * ahead.steps);
    double perMs = perMs(rate);
    double waiting = own.ready();
    double most = waiting;
    long at = own.now();
    for (int i = 0; i < own.counts().size(); i++) {
      waiting = Math.max(0, waiting + own.counts().get(i) - perMs * step.toMillis());
      if (waiting > most) {
        most = waiting;
        at = own.now() + (i + 1) * step.toMillis();
      }
    }
    long late = Math.round(most / perMs);
    return late < LATE_MS ? Stream.empty() : Stream.of(new Limited(queue, rate, late, at));
  }
}
