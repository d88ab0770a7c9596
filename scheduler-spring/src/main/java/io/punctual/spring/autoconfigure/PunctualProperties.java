package io.punctual.spring.autoconfigure;

import io.punctual.RetryPolicy;
import io.punctual.internal.ConfiguredUrl;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.Once;
import io.punctual.spring.Transactions;
import io.punctual.spring.WorkerSettings;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.Limits;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;

/**
 * The properties of an application, the same with either starter.
 *
 * @param enabled whether the starters do anything
 * @param application the name under which jobs are submitted and run, and by which the registry
 *     knows the application; default spring.application.name
 * @param concurrency jobs that this instance runs at once, 1 to 10,000
 * @param retry the retry policy of jobs that this application submits without one; default that of
 *     the scheduler
 * @param transactions when what is sent, cancelled or moved inside of a Spring transaction takes
 *     effect: after-commit, and never if it is rolled back; or immediate. With an outbox, of those
 *     alone that it does not take part in
 * @param workers settings of single task types, by type: enabled, concurrency, time-to-run, retry,
 *     once; they win over those of {@code DelayedTask}. A type with dots stands in brackets: {@code
 *     workers."[order.close]"}
 * @param shutdownPatience how long running jobs may take once the application stops, 0 s to 1 h;
 *     what runs longer is interrupted and delivered again
 * @param initializeSchema whether tables of outbox and once are made at the start: embedded for
 *     databases in memory, always, or never
 * @param url service mode: addresses of schedulers; when given, the registry is not asked for them.
 *     {@code dns://host:port} stands for http at each address of that host
 * @param serviceId service mode: the schedulers' name in the registry
 * @param token service mode: who this application is for the schedulers, as their command
 *     credentials prints it
 * @param sslBundle service mode: the SSL bundle (spring.ssl.bundle) that says which schedulers are
 *     trusted on https, and with which key this application shows itself to those that ask; default
 *     the JVM's
 * @param delivery service mode: whether schedulers call this application (push), or it fetches its
 *     jobs (pull): where it has no web server, or schedulers cannot reach it
 * @param registration service mode, push: where this instance registers: registry (Eureka,
 *     ZooKeeper or another one of Spring Cloud), or scheduler (at the schedulers, which need no
 *     registry then); default registry if the client of one registers it, else scheduler
 * @param submitTimeout service mode: how long a call may take in all, until the last byte of the
 *     answer, 1 s to 5 min: with tries at other schedulers, pauses between them, and requests of
 *     other threads that it waits for. One scheduler has half of it to answer, and a tenth to
 *     accept the connection
 * @param callback service mode: how schedulers call us
 * @param eureka service mode: how soon registry and application see each other
 * @param keyPrefix plugin mode: first part of every key in Redis; applications and schedulers that
 *     share jobs have the same
 * @param durability plugin mode: where a change must be before it is answered: {@code auto} at one
 *     replica if Redis has one, {@code redis} for what Redis is configured to, {@code synced} on
 *     its disk, {@code replicated:n} at n replicas, 1 to 9. A change waits for that for 1 s, or
 *     half of the connections' time-out if that is less
 * @param plugin beside the client starter
 * @param outbox jobs that are written in the application's own transactions
 * @param once workers whose jobs take effect once
 */
@ConfigurationProperties("punctual")
public record PunctualProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String application,
    @DefaultValue("100") int concurrency,
    @Nullable String retry,
    @DefaultValue("after-commit") Transactions transactions,
    @DefaultValue Map<String, Worker> workers,
    @DefaultValue("20s") Duration shutdownPatience,
    @DefaultValue("embedded") InitializeSchema initializeSchema,
    @DefaultValue List<String> url,
    @DefaultValue("punctual-scheduler") String serviceId,
    @Nullable String token,
    @Nullable String sslBundle,
    @DefaultValue("push") Delivery delivery,
    @Nullable Registration registration,
    @DefaultValue("10s") Duration submitTimeout,
    @DefaultValue Callback callback,
    @DefaultValue Eureka eureka,
    @DefaultValue("punctual") String keyPrefix,
    @DefaultValue("auto") String durability,
    @DefaultValue Plugin plugin,
    @DefaultValue Outbox outbox,
    @DefaultValue OnceMemory once) {

  /** Most jobs at once, of an instance or of a task type. */
  public static final int MAX_CONCURRENCY = WorkerMetadata.MAX_CONCURRENCY;

  /** Checks the values. */
  public PunctualProperties {
    url = List.copyOf(url);
    var unused = schedulers(url);
    workers = Map.copyOf(workers);
    workers.forEach((type, worker) -> worker.check("punctual.workers.\"[" + type + "]\"."));
    requireConcurrency("punctual.concurrency", concurrency);
    if (retry != null) {
      checked("punctual.retry", () -> RetryPolicy.parse(retry));
    }
    require("shutdown-patience", shutdownPatience, Duration.ZERO, Duration.ofHours(1));
    require("submit-timeout", submitTimeout, Duration.ofSeconds(1), Duration.ofMinutes(5));
  }

  /** Returns the addresses of the schedulers; empty if the registry is asked for them. */
  public List<URI> schedulers() {
    return schedulers(url);
  }

  private static List<URI> schedulers(List<String> urls) {
    List<URI> schedulers = new ArrayList<>();
    for (int i = 0; i < urls.size(); i++) {
      schedulers.add(ConfiguredUrl.parsed("punctual.url[" + i + "]", urls.get(i)));
    }
    return schedulers;
  }

  private static void require(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "punctual.%s must be between %s and %s, but was %s"
              .formatted(name, text(least), text(most), text(value)));
    }
  }

  // As it is written in properties, where that is short.
  private static String text(Duration value) {
    long millis = value.toMillis();
    return millis % 1000 != 0 ? millis + "ms" : millis / 1000 + "s";
  }

  private static void requireConcurrency(String property, int concurrency) {
    if (concurrency < 1 || concurrency > MAX_CONCURRENCY) {
      throw new IllegalArgumentException(
          "%s must be between 1 and %d, but was %d"
              .formatted(property, MAX_CONCURRENCY, concurrency));
    }
  }

  private static void checked(String property, Supplier<Object> value) {
    try {
      var unused = value.get();
    } catch (IllegalArgumentException e) {
      // Without its cause: of a chain, Spring Boot shows the innermost message alone.
      throw new IllegalArgumentException(property + ": " + e.getMessage());
    }
  }

  @Override
  public String toString() {
    return "PunctualProperties[application=" + application + "]";
  }

  /** Returns the application's name: its own for jobs, else Spring's; empty if it has none. */
  public String applicationName(Environment environment) {
    return application == null
        ? environment.getProperty("spring.application.name", "")
        : application;
  }

  /** Returns what counts for a task type: as properties say, else its worker, else for all. */
  public WorkerSettings settings(String taskType, AnnotatedWorkers annotated) {
    Worker worker = workers.get(taskType);
    return (worker == null ? WorkerSettings.NONE : worker.settings())
        .or(annotated.settings(taskType))
        .or(new WorkerSettings(null, null, retryPolicy(), null));
  }

  /** Returns how many jobs of a task type this instance runs at once. */
  public int concurrency(String taskType, AnnotatedWorkers annotated) {
    Integer own = settings(taskType, annotated).concurrency();
    return own == null ? concurrency : Math.min(own, concurrency);
  }

  /** Returns the policy of jobs that bring none; null for that of the scheduler. */
  public @Nullable RetryPolicy retryPolicy() {
    return retry == null ? null : RetryPolicy.parse(retry);
  }

  /**
   * Settings of one task type; what is not given is as its worker says, else as for all.
   *
   * @param enabled whether this instance runs jobs of this type
   * @param concurrency jobs of this type that this instance runs at once, 1 to 10,000
   * @param timeToRun how long one attempt may take, 1 s to 24 h: of jobs that this application
   *     submits without a time of their own
   * @param retry what happens after a failed attempt: of jobs that this application submits without
   *     a policy of their own
   * @param once database: the application's database records which jobs are done, so that none
   *     takes effect twice; or off
   */
  public record Worker(
      @DefaultValue("true") boolean enabled,
      @Nullable Integer concurrency,
      @Nullable Duration timeToRun,
      @Nullable String retry,
      @Nullable Once once) {

    private void check(String property) {
      if (concurrency != null) {
        requireConcurrency(property + "concurrency", concurrency);
      }
      if (timeToRun != null) {
        checked(property + "time-to-run", () -> Limits.requireTimeToRun(timeToRun));
      }
      if (retry != null) {
        checked(property + "retry", () -> RetryPolicy.parse(retry));
      }
    }

    WorkerSettings settings() {
      return new WorkerSettings(
          concurrency, timeToRun, retry == null ? null : RetryPolicy.parse(retry), once);
    }
  }

  /** Who begins. */
  public enum Delivery {
    /** Schedulers call the application. */
    PUSH,
    /** The application asks schedulers. */
    PULL
  }

  /** Where this instance registers. */
  public enum Registration {
    /** In Eureka, ZooKeeper or another registry, by its client. */
    REGISTRY,
    /** At the schedulers, which need no registry then. */
    SCHEDULER
  }

  /**
   * How schedulers call us.
   *
   * @param url service mode, only with registration=scheduler: scheme, host and port at which
   *     schedulers reach this instance's web server, such as http://10.0.0.7:8080; default
   *     server.address, or else the local IP address on the route to a scheduler, with the server's
   *     scheme and port
   * @param path service mode: where schedulers call, below context path and servlet path
   * @param secrets service mode: keys of this application, as the scheduler's command credentials
   *     prints them, newest first; calls that are not signed with one of them are refused
   * @param acceptUnsigned service mode: where there are no secrets: whether calls from this machine
   *     are taken without; for development only
   */
  public record Callback(
      @Nullable String url,
      @DefaultValue(WorkerMetadata.DEFAULT_CALLBACK_PATH) String path,
      @DefaultValue List<String> secrets,
      @DefaultValue("false") boolean acceptUnsigned) {

    /** Checks the values. */
    public Callback {
      var unusedBase = base(url);
      if (!WorkerMetadata.isPlainPath(path)) {
        throw new IllegalArgumentException(
            "punctual.callback.path must be a plain absolute path such as"
                + " /punctual/callback, not '"
                + path
                + "'");
      }
      secrets = List.copyOf(secrets);
      var unused = keys(secrets);
    }

    /** Returns the address of this instance's web server, without a path; null if it is not set. */
    public @Nullable URI base() {
      return base(url);
    }

    private static @Nullable URI base(@Nullable String url) {
      if (url == null || url.isBlank()) {
        return null;
      }
      URI base = ConfiguredUrl.parsed("punctual.callback.url", url);
      String flaw = ConfiguredUrl.flaw(base);
      if (flaw == null && !base.getRawPath().isEmpty() && !base.getRawPath().equals("/")) {
        flaw = "it has a path";
      }
      if (flaw != null) {
        throw new IllegalArgumentException(
            "punctual.callback.url must be http or https with a host and an optional port, such as"
                + " http://10.0.0.7:8080, but was '%s': %s. Remove user, path, query and fragment."
                    .formatted(ConfiguredUrl.masked(base), flaw));
      }
      return base;
    }

    /** The keys. */
    public List<CallbackSignature.Key> keys() {
      return keys(secrets);
    }

    private static List<CallbackSignature.Key> keys(List<String> secrets) {
      List<CallbackSignature.Key> keys = new ArrayList<>();
      for (int i = 0; i < secrets.size(); i++) {
        try {
          keys.add(CallbackSignature.Key.parse(secrets.get(i)));
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(
              "punctual.callback.secrets[" + i + "] " + e.getMessage(), e);
        }
      }
      return keys;
    }

    @Override
    public String toString() {
      return "Callback[path=" + path + "]";
    }
  }

  /**
   * The Eureka client.
   *
   * @param fast service mode: whether Eureka's client sends a heartbeat and fetches every 5 s, has
   *     a lease of 15 s, and gives up a call after 3 s: changes are seen in seconds, not in half a
   *     minute or more. What eureka.* sets wins
   */
  public record Eureka(@DefaultValue("false") boolean fast) {}

  /**
   * Plugin mode beside service mode.
   *
   * @param submit with both starters: whether new jobs go to this application's Redis instead of to
   *     the schedulers
   */
  public record Plugin(@DefaultValue("false") boolean submit) {}

  /**
   * Jobs that are written in the application's own transactions.
   *
   * @param enabled whether what is sent, cancelled or moved inside of a transaction of the
   *     DataSource is written in that transaction, to the table punctual_outbox, and sent from
   *     there
   * @param keepSent how long jobs are kept that were sent, after they were sent or are due, 1 min
   *     to 10 years; they are sent again when the schedulers' Redis was emptied, came back as it
   *     was earlier, or was restarted. By default they are not kept
   */
  public record Outbox(@DefaultValue("false") boolean enabled, @Nullable Duration keepSent) {

    /** Checks the values. */
    public Outbox {
      if (keepSent != null) {
        require("outbox.keep-sent", keepSent, Duration.ofMinutes(1), Duration.ofDays(3650));
      }
    }
  }

  /**
   * Workers whose jobs take effect once.
   *
   * @param retention how long it is remembered that a job is done, 1 h to 10 years: longer than it
   *     can take until a lost answer leads to another delivery
   */
  public record OnceMemory(@DefaultValue("7d") Duration retention) {

    /** Checks the values. */
    public OnceMemory {
      require("once.retention", retention, Duration.ofHours(1), Duration.ofDays(3650));
    }
  }
}
