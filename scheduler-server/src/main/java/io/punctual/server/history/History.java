package io.punctual.server.history;

import io.punctual.server.security.ApplicationTokens;
import io.punctual.server.work.SharedRead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * The last day of what all queues did, and what may explain it: two lists in Redis, newest first,
 * that all schedulers share and that survive them. Times are Redis's.
 */
@Component
public final class History {

  /** Most points that are kept: a day of one every ten seconds. */
  static final int MOST_POINTS = 8_640;

  /** Most marks that are kept. */
  static final int MOST_MARKS = 300;

  /** Most entries of the set of known applications and releases; each has an entry. */
  static final int MOST_RELEASES = 20_000;

  private static final Logger log = LoggerFactory.getLogger(History.class);
  private static final long POINT_MS = 10_000;
  private static final long BURST_NS = TimeUnit.SECONDS.toNanos(10);
  // The clock may have been set back since a point was kept; clocks of a cluster's nodes may differ
  // by a second.
  private static final long FUTURE_MS = 60_000;
  private static final Duration SHORT = Duration.ofSeconds(2);
  // It is half a megabyte, and its last interval is of ten minutes.
  private static final Duration LONG = Duration.ofSeconds(30);

  private final StringRedisTemplate redis;
  private final String key;
  private final LongSupplier nanos;
  private final Map<Span, SharedRead<Past>> reads = new EnumMap<>(Span.class);
  private final Map<Mark.Kind, Burst> bursts = new EnumMap<>(Mark.Kind.class);

  /** Keeps its lists under the key prefix. */
  @Autowired
  public History(
      StringRedisTemplate redis,
      @Value("${" + ApplicationTokens.KEY_PREFIX + ":punctual}") String keyPrefix) {
    this(redis, keyPrefix, System::nanoTime);
  }

  History(StringRedisTemplate redis, String keyPrefix, LongSupplier nanos) {
    this.redis = redis;
    this.nanos = nanos;
    this.key = keyPrefix + ":history";
    for (Span span : Span.values()) {
      reads.put(span, new SharedRead<>(() -> readNow(span), span == Span.DAY ? LONG : SHORT));
    }
  }

  /**
   * Returns what tells a scheduler whether it samples.
   *
   * @param life how long a scheduler counts after it said that it is there
   */
  Samplers samplers(Duration life) {
    return new Samplers(redis, key + ":samplers", life);
  }

  /** Returns Redis's time, epoch ms. */
  long now() {
    RedisCallback<Long> time = server -> server.serverCommands().time(TimeUnit.MILLISECONDS);
    return Objects.requireNonNull(redis.execute(time));
  }

  void add(Point point) {
    push(key, point.text(), MOST_POINTS);
  }

  private void push(String list, String text, int most) {
    redis.opsForList().leftPush(list, text);
    redis.opsForList().trim(list, 0, most - 1L);
  }

  /**
   * Adds a mark at Redis's current time. Of pauses, resumes and bulk operations, each kind gets at
   * most two marks in ten seconds: one for the first, and later one for all others. A resume of
   * what was paused within these ten seconds ends them, and so does a pause of what was resumed.
   * Never throws: if Redis refuses a mark, the mark is lost.
   */
  public void mark(Mark.Kind kind, String text) {
    if (kind.comesInBursts()) {
      endBursts(BURST_NS);
      String before = null;
      synchronized (bursts) {
        Burst opposite = kind.opposite() == kind ? null : bursts.get(kind.opposite());
        if (opposite != null && opposite.texts.contains(text)) {
          bursts.remove(kind.opposite());
          before = opposite.rest();
        }
        Burst own = bursts.get(kind);
        if (own != null) {
          own.add(text);
          return;
        }
        bursts.put(kind, new Burst(nanos.getAsLong(), text));
      }
      if (before != null) {
        push(kind.opposite(), before);
      }
    }
    push(kind, text);
  }

  /** Adds the second marks of bursts that began ten seconds ago or earlier. */
  void endBursts() {
    endBursts(BURST_NS);
  }

  /** Adds the second marks of all bursts, before this scheduler ends. */
  void endAllBursts() {
    endBursts(0);
  }

  private void endBursts(long age) {
    Map<Mark.Kind, String> over = new EnumMap<>(Mark.Kind.class);
    synchronized (bursts) {
      bursts
          .entrySet()
          .removeIf(
              burst -> {
                boolean ended = nanos.getAsLong() - burst.getValue().begun >= age;
                String rest = burst.getValue().rest();
                if (ended && rest != null) {
                  over.put(burst.getKey(), rest);
                }
                return ended;
              });
    }
    over.forEach(this::push);
  }

  private void push(Mark.Kind kind, String text) {
    try {
      Mark mark = new Mark(now(), kind, text);
      List<String> newest = redis.opsForList().range(marks(), 0, 0);
      Mark last = newest == null || newest.isEmpty() ? null : Mark.parse(newest.get(0));
      // Work on many jobs by calls for a page each is one thing.
      if (kind != Mark.Kind.BULK
          || last == null
          || last.kind() != kind
          || !last.text().equals(mark.text())) {
        push(marks(), mark.stored(), MOST_MARKS);
      }
    } catch (RuntimeException e) {
      log.debug("Redis did not take the mark {} {}", kind, text, e);
    }
  }

  /** The marks of one kind within ten seconds. */
  private static final class Burst {

    // So that a mark has room for the number behind it.
    private static final int MAX_SECOND = 100;
    private static final int MAX_TEXTS = 1_000;

    private final long begun;
    private final Set<String> texts = new LinkedHashSet<>();

    Burst(long begun, String first) {
      this.begun = begun;
      texts.add(first);
    }

    void add(String text) {
      if (texts.size() < MAX_TEXTS) {
        texts.add(text);
      }
    }

    /** What came after the first one; null if nothing did. */
    @Nullable String rest() {
      String second = texts.stream().skip(1).findFirst().orElse(null);
      return second == null || texts.size() == 2
          ? second
          : second.substring(0, Math.min(second.length(), MAX_SECOND))
              + " (+"
              + (texts.size() - 2)
              + ")";
    }
  }

  private String marks() {
    return key + ":marks";
  }

  /** Marks the new releases of an application. Its first releases get no mark. */
  void releases(String application, List<String> releases) {
    boolean known = !isNew(application);
    for (String release : releases) {
      if (isNew(application + " " + release) && known) {
        mark(Mark.Kind.RELEASE, application + " " + release);
      }
    }
  }

  // The score is when it was seen last, so that the oldest are forgotten.
  private boolean isNew(String name) {
    String seen = key + ":releases";
    boolean added = Boolean.TRUE.equals(redis.opsForZSet().add(seen, name, (double) now()));
    if (added) {
      redis.opsForZSet().removeRange(seen, 0, -1L - MOST_RELEASES);
    }
    return added;
  }

  /**
   * Reads a part of the past. What was read a moment ago serves all viewers.
   *
   * @throws org.springframework.dao.DataAccessException if Redis does not answer, or its key is not
   *     a list
   */
  public Past read(Span span) {
    return Objects.requireNonNull(reads.get(span)).get();
  }

  private Past readNow(Span span) {
    long now = now();
    int most = (int) (span.length().toMillis() / POINT_MS) + 2;
    List<Point> points = new ArrayList<>();
    int unreadable = 0;
    long before = now + FUTURE_MS;
    for (String text : lines(key, Math.min(most, MOST_POINTS))) {
      Point point = Point.parse(text);
      if (point == null) {
        unreadable++;
      } else if (point.at() <= before) {
        points.add(point);
        // Two schedulers that sample at once, for a moment, count the same.
        before = point.begin();
      }
    }
    long until = now;
    if (!points.isEmpty()) {
      Point newest = points.get(0);
      // The next one is to come.
      until = now - newest.at() > 2 * newest.ms() + POINT_MS ? now : newest.at();
    }
    long from = until - span.length().toMillis();
    points.removeIf(point -> point.at() <= from);
    Collections.reverse(points);
    List<Mark> marks = new ArrayList<>();
    for (String text : lines(marks(), MOST_MARKS)) {
      Mark mark = Mark.parse(text);
      if (mark == null) {
        unreadable++;
      } else if (mark.at() <= now + FUTURE_MS) {
        marks.add(mark);
      }
    }
    Collections.reverse(marks);
    return new Past(span, until, points, marks, unreadable);
  }

  private List<String> lines(String list, int most) {
    @Nullable List<String> lines = redis.opsForList().range(list, 0, most - 1L);
    return lines == null ? List.of() : lines;
  }
}
