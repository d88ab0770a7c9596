package io.punctual.spring.client;

import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.spring.Once;
import io.punctual.spring.Transactions;
import io.punctual.spring.WorkerSettings;
import io.punctual.wire.CallbackSignature;
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
import org.springframework.util.unit.DataSize;

/**
 * How an application takes part.
 *
 * @param enabled whether the starter does anything
 * @param application the name under which jobs are submitted and the registry knows the
 *     application; default spring.application.name
 * @param serviceId the schedulers' name in the registry
 * @param url addresses of schedulers; when given, the registry is not asked for them
 * @param token who this application is for the schedulers, as their command credentials prints it
 * @param sslBundle the SSL bundle (spring.ssl.bundle) that says which schedulers are trusted on
 *     https, and with which key this application shows itself to those that ask; default the JVM's
 * @param concurrency jobs that this instance runs at once, 1 to 10,000
 * @param delivery whether schedulers call this application (push), or it fetches its jobs (pull):
 *     where it has no web server, or schedulers cannot reach it
 * @param transactions when what is sent, cancelled or moved inside of a Spring transaction takes
 *     effect: after-commit, and never if it is rolled back; or immediate. With an outbox, of those
 *     alone that it does not take part in
 * @param workers settings of single task types, by type: enabled, concurrency, time-to-run, retry,
 *     once; they win over those of {@code DelayedTask}. A type with dots stands in brackets: {@code
 *     workers."[order.close]"}
 * @param check whether the log says, some seconds after the start, that no scheduler answers, or
 *     that none reaches this instance, and what to do
 * @param pull how jobs are fetched
 * @param submit how schedulers are called
 * @param callback how schedulers call us
 * @param shutdown how the instance leaves
 */
@ConfigurationProperties("punctual.client")
public record PunctualClientProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String application,
    @DefaultValue("punctual-scheduler") String serviceId,
    @DefaultValue List<URI> url,
    @Nullable String token,
    @Nullable String sslBundle,
    @DefaultValue("100") int concurrency,
    @DefaultValue("push") Delivery delivery,
    @DefaultValue("after-commit") Transactions transactions,
    @DefaultValue Map<String, Worker> workers,
    @DefaultValue("true") boolean check,
    @DefaultValue Pull pull,
    @DefaultValue Submit submit,
    @DefaultValue Callback callback,
    @DefaultValue Shutdown shutdown) {

  /** Checks the values. */
  public PunctualClientProperties {
    url = List.copyOf(url);
    workers = Map.copyOf(workers);
    workers.forEach((type, worker) -> worker.check("punctual.client.workers.\"[" + type + "]\"."));
    if (concurrency < 1 || concurrency > WorkerMetadata.MAX_CONCURRENCY) {
      throw new IllegalArgumentException(
          "punctual.client.concurrency must be between 1 and "
              + WorkerMetadata.MAX_CONCURRENCY
              + ", not "
              + concurrency);
    }
  }

  @Override
  public String toString() {
    return "PunctualClientProperties[application=" + application + "]";
  }

  /** What is set for a task type. */
  public WorkerSettings worker(String taskType) {
    Worker worker = workers.get(taskType);
    return worker == null ? WorkerSettings.NONE : worker.settings();
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
      if (concurrency != null
          && (concurrency < 1 || concurrency > WorkerMetadata.MAX_CONCURRENCY)) {
        throw new IllegalArgumentException(
            property
                + "concurrency must be between 1 and "
                + WorkerMetadata.MAX_CONCURRENCY
                + ", not "
                + concurrency);
      }
      if (timeToRun != null) {
        checked(property + "time-to-run", () -> Limits.requireTimeToRun(timeToRun));
      }
      if (retry != null) {
        checked(property + "retry", () -> RetryPolicy.parse(retry));
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

  /**
   * How jobs are fetched.
   *
   * @param lease how long a fetched job is held unless it is kept, 3 s to 5 min: after this time
   *     the jobs of an instance that died move on; a shorter one costs more requests for long jobs
   */
  public record Pull(@DefaultValue("15s") Duration lease) {

    /** Checks the values. */
    public Pull {
      if (lease.compareTo(Duration.ofSeconds(3)) < 0
          || lease.compareTo(Duration.ofMinutes(5)) > 0) {
        throw new IllegalArgumentException(
            "punctual.client.pull.lease must be between 3s and 5m, not " + lease);
      }
    }
  }

  /**
   * How schedulers are called.
   *
   * @param timeout how long a call may take in all, until the last byte of the answer, 1 s to 5
   *     min: with tries at other schedulers, pauses between them, and requests of other threads
   *     that it waits for. One scheduler has half of it to answer, and a tenth to accept the
   *     connection
   */
  public record Submit(@DefaultValue("10s") Duration timeout) {

    /** Checks the values. */
    public Submit {
      if (timeout.compareTo(Duration.ofSeconds(1)) < 0
          || timeout.compareTo(Duration.ofMinutes(5)) > 0) {
        throw new IllegalArgumentException(
            "punctual.client.submit.timeout must be between 1s and 5m, but was " + timeout);
      }
    }
  }

  /**
   * How schedulers call us.
   *
   * @param path where, below context path and servlet path
   * @param maxBody largest request that is read; schedulers send 1 MB of jobs at once, which as
   *     JSON may be six times as much. All requests under way together may take a sixteenth of the
   *     heap, and one of this size in any case
   * @param secrets keys of this application, as the scheduler's command credentials prints them,
   *     newest first; calls that are not signed with one of them are refused
   * @param acceptUnsigned where there are no secrets: whether calls from this machine are taken
   *     without; for development only
   */
  public record Callback(
      @DefaultValue(WorkerMetadata.DEFAULT_CALLBACK_PATH) String path,
      @DefaultValue("8MB") DataSize maxBody,
      @DefaultValue List<String> secrets,
      @DefaultValue("false") boolean acceptUnsigned) {

    /** Checks the values. */
    public Callback {
      if (!WorkerMetadata.isPlainPath(path)) {
        throw new IllegalArgumentException(
            "punctual.client.callback.path must be a plain absolute path such as"
                + " /punctual/callback, not '"
                + path
                + "'");
      }
      secrets = List.copyOf(secrets);
      var unused = keys(secrets);
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
              "punctual.client.callback.secrets[" + i + "] " + e.getMessage(), e);
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
   * How the instance leaves.
   *
   * @param drainTimeout how long running jobs may take once the application stops
   */
  public record Shutdown(@DefaultValue("20s") Duration drainTimeout) {}
}
