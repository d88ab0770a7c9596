package io.punctual.server.jobs;

import io.punctual.core.Engine;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.query.BucketUsage;
import io.punctual.server.problem.ApiException;
import io.punctual.server.work.RepeatedTask;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Limits what one application keeps in Redis and how fast it submits, so that no application takes
 * Redis from the others. Only submits and new contents are limited: claims, acknowledgements,
 * cancels and purges always work.
 *
 * <p>The jobs and bytes of an application are read from Redis every ten seconds, and every second
 * once half of a limit is used. What this scheduler accepted since then is added. With several
 * schedulers, an application may exceed a limit by what the others accept in that time.
 */
@Component
public class ApplicationQuotas extends RepeatedTask {

  private static final Logger log = LoggerFactory.getLogger(ApplicationQuotas.class);
  private static final Duration TURN = Duration.ofSeconds(1);
  private static final Duration SELDOM = Duration.ofSeconds(10);
  private static final Duration MEMORY = Duration.ofMinutes(1);
  // Of Redis's time, about a fiftieth.
  private static final int BUCKETS_OF_TURN = 200;
  private static final int MAX_ACCOUNTS = 10_000;
  private static final double OFTEN_FROM = 0.5;
  private static final double WARN_FROM = 0.8;
  private static final double WELL_BELOW = 0.7;
  // Record, index entry and what else Redis keeps of a job beside its content.
  private static final int BYTES_OF_JOB = 300;

  private final Engine engine;
  private final Store store;
  private final QuotaProperties quota;
  private final Map<String, Account> accounts = new ConcurrentHashMap<>();
  // 0 for no limit.
  private volatile long maxBytes;
  // Of that thread alone.
  private @Nullable Long memoryReadAt;
  private @Nullable Measurement measurement;

  ApplicationQuotas(Engine engine, Store store, QuotaProperties quota) {
    super("quotas", Duration.ZERO, TURN);
    this.engine = engine;
    this.store = store;
    this.quota = quota;
  }

  /**
   * What an application uses of its limits.
   *
   * @param maxJobs 0 for no limit
   * @param maxBytes 0 for no limit
   */
  public record Usage(String application, long jobs, long maxJobs, long bytes, long maxBytes) {

    /** The larger of both shares, 1 at the limit. */
    public double share() {
      return Math.max(share(jobs, maxJobs), share(bytes, maxBytes));
    }

    /** The usage in words. */
    public String text() {
      boolean byJobs = share(jobs, maxJobs) >= share(bytes, maxBytes);
      return byJobs
          ? application + " keeps " + jobs + " jobs, and may keep " + maxJobs
          : application
              + " takes "
              + megabytes(bytes)
              + " MB of Redis's memory, and may take "
              + megabytes(maxBytes);
    }

    private static double share(long used, long max) {
      return max == 0 ? 0 : (double) used / max;
    }

    private static long megabytes(long bytes) {
      return (bytes + 500_000) / 1_000_000;
    }
  }

  /**
   * Counts a job that is about to be submitted.
   *
   * @param bytes of its params
   * @throws ApiException 429 if the application may not submit it now; nothing was counted then
   */
  public void submit(QueueName queue, long bytes) {
    admit(queue, 1, bytes + BYTES_OF_JOB);
  }

  /**
   * Counts a new content of a job.
   *
   * @param bytes of its params
   * @throws ApiException 429 if there is no more memory for it; nothing was counted then
   */
  public void revise(QueueName queue, long bytes) {
    admit(queue, 0, bytes);
  }

  private void admit(QueueName queue, int jobs, long bytes) {
    if (accounts.size() >= MAX_ACCOUNTS && !accounts.containsKey(queue.application())) {
      // Each application has its own token, so these are names that an administrator made up.
      return;
    }
    var unused =
        accounts.compute(
            queue.application(),
            (name, known) -> {
              Account account = known == null ? new Account(name) : known;
              account.admit(jobs, bytes);
              return account;
            });
  }

  /** The applications that use four fifths of a limit or more, the fullest first. */
  public List<Usage> nearlyFull() {
    return accounts.values().stream()
        .map(Account::usage)
        .filter(usage -> usage.share() >= WARN_FROM)
        .sorted(Comparator.comparingDouble((Usage usage) -> usage.share()).reversed())
        .toList();
  }

  @Override
  protected void turn() {
    try {
      long now = System.nanoTime();
      readMemory(now);
      forgetIdle(now);
      int left = BUCKETS_OF_TURN;
      while (left > 0) {
        Measurement current = measurement == null ? next(now) : measurement;
        if (current == null) {
          return;
        }
        measurement = current;
        if (current.left.isEmpty()) {
          current.end();
          measurement = null;
        } else {
          current.add(usage(current.left.remove()));
          left--;
        }
      }
    } catch (StoreException e) {
      // The engine says when Redis is away.
      log.debug("What the applications use of Redis could not be read", e);
      measurement = null;
    } catch (RuntimeException | Error e) {
      measurement = null;
      throw e;
    }
  }

  private BucketUsage usage(Bucket bucket) {
    try {
      return store.jobs().usage(bucket);
    } catch (StoreException e) {
      if (e.kind() == StoreException.Kind.CORRUPT) {
        // The doctor says so. Nothing is submitted to it.
        return new BucketUsage(0, 0);
      }
      throw e;
    }
  }

  private void readMemory(long now) {
    Long last = memoryReadAt;
    if (last != null && now - last < MEMORY.toNanos()) {
      return;
    }
    long all = 0;
    for (StoreNode node : store.inspector().nodes()) {
      Long max = node.maxMemory();
      if (max == null || max == 0) {
        all = 0;
        break;
      }
      all += max;
    }
    maxBytes = quota.memoryPercent() == 100 ? 0 : all / 100 * quota.memoryPercent();
    memoryReadAt = now;
  }

  private void forgetIdle(long now) {
    accounts.forEach(
        (name, any) -> {
          var unused = accounts.computeIfPresent(name, (same, a) -> a.isIdle(now) ? null : a);
        });
  }

  private @Nullable Measurement next(long now) {
    Account due =
        accounts.values().stream()
            .filter(account -> account.isDue(now))
            .min(Comparator.comparingLong(Account::lastMeasured))
            .orElse(null);
    return due == null ? null : new Measurement(due, now);
  }

  /** Reads the usage of one application, bucket by bucket. */
  private final class Measurement {

    private final Account account;
    private final long begun;
    private final Deque<Bucket> left = new ArrayDeque<>();
    private long jobs;
    private long bytes;

    Measurement(Account account, long begun) {
      this.account = account;
      this.begun = begun;
      account.begin();
      engine
          .queues()
          .forEach(
              (queue, buckets) -> {
                for (int i = 0; queue.application().equals(account.name) && i < buckets; i++) {
                  left.add(new Bucket(queue, i));
                }
              });
    }

    void add(BucketUsage usage) {
      jobs += usage.jobs();
      bytes += usage.bytes();
    }

    void end() {
      account.end(jobs, bytes, begun);
    }
  }

  /** What one application uses: what was measured, and what was accepted here since. */
  private final class Account {

    private final String name;
    private long jobs;
    private long bytes;
    // Accepted since the last measurement began, and since the present one did.
    private long addedJobs;
    private long addedBytes;
    private long newJobs;
    private long newBytes;
    private @Nullable Long measuredAt;
    private boolean warned;
    // Monotonic ns at which the next job would come if all came evenly.
    private @Nullable Long nextSubmit;

    Account(String name) {
      this.name = name;
    }

    synchronized Usage usage() {
      return new Usage(name, jobs + addedJobs, quota.jobs(), bytes + addedBytes, maxBytes);
    }

    synchronized void admit(int more, long moreBytes) {
      Usage now = usage();
      if (more > 0 && now.maxJobs() > 0 && now.jobs() + more > now.maxJobs()) {
        throw full(
            now,
            "jobs",
            now.jobs(),
            now.maxJobs(),
            " jobs, which is the most (punctual.quota.jobs)");
      }
      if (now.maxBytes() > 0 && now.bytes() + moreBytes > now.maxBytes()) {
        throw full(
            now,
            "bytes",
            now.bytes(),
            now.maxBytes(),
            " bytes of Redis's memory ("
                + quota.memoryPercent()
                + " % of maxmemory, punctual.quota.memory-percent), and this job needs more");
      }
      if (more > 0) {
        throttle();
      }
      addedJobs += more;
      addedBytes += moreBytes;
      newJobs += more;
      newBytes += moreBytes;
    }

    private ApiException full(Usage now, String limit, long used, long max, String most) {
      return ApiException.tooMany(
          now.application()
              + " keeps "
              + used
              + " of "
              + max
              + most
              + ": nothing was changed. Try again when jobs have run, or cancel or purge some",
          Map.of("limit", limit, "used", used, "max", max, "left", Math.max(0, max - used)),
          SELDOM);
    }

    private void throttle() {
      int perSecond = quota.submitsPerSecond();
      if (perSecond == 0) {
        return;
      }
      long now = System.nanoTime();
      long second = TimeUnit.SECONDS.toNanos(1);
      long next = nextSubmit == null || nextSubmit - now < 0 ? now : nextSubmit;
      next += second / perSecond;
      if (next - now > second) {
        throw ApiException.tooMany(
            name
                + " submits more than "
                + perSecond
                + " jobs a second to this scheduler, which is the most"
                + " (punctual.quota.submits-per-second): nothing was changed. Submit more slowly",
            Map.of("limit", "submits-per-second", "max", perSecond, "left", 0),
            TURN);
      }
      nextSubmit = next;
    }

    synchronized boolean isDue(long now) {
      Long last = measuredAt;
      if (last == null) {
        return true;
      }
      Usage usage = usage();
      boolean often = usage.share() >= OFTEN_FROM;
      return (often || addedJobs > 0 || addedBytes > 0)
          && now - last >= (often ? TURN : SELDOM).toNanos() / 2;
    }

    synchronized boolean isIdle(long now) {
      Long last = measuredAt;
      return last != null && jobs + addedJobs == 0 && now - last > SELDOM.multipliedBy(6).toNanos();
    }

    /** Monotonic ns; the least number where it never was. */
    synchronized long lastMeasured() {
      return Objects.requireNonNullElse(measuredAt, Long.MIN_VALUE);
    }

    synchronized void begin() {
      newJobs = 0;
      newBytes = 0;
    }

    synchronized void end(long measuredJobs, long measuredBytes, long at) {
      jobs = measuredJobs;
      bytes = measuredBytes;
      addedJobs = newJobs;
      addedBytes = newBytes;
      measuredAt = at;
      Usage now = usage();
      if (now.share() >= WARN_FROM && !warned) {
        warned = true;
        log.warn(
            "Quota nearly used up: {}. Beyond it, submits are refused (429). Find out why jobs do not"
                + " run, purge jobs that are not needed, or raise punctual.quota",
            now.text());
      } else if (now.share() < WELL_BELOW) {
        warned = false;
      }
    }
  }
}
