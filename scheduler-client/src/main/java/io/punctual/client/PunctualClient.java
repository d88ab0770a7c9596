package io.punctual.client;

import io.punctual.TaskWorker;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.callback.CallbackGuard;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.json.Json;
import io.punctual.client.pull.PullRunner;
import io.punctual.client.registration.SchedulerRegistration;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.HttpJobScheduler;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.client.submit.SchedulerSource;
import io.punctual.internal.AttemptObservations;
import io.punctual.internal.JobListeners;
import io.punctual.internal.TaskWorkers;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An application's part in Punctual, without any framework: it submits jobs, and runs those that it
 * pulls or that schedulers bring.
 *
 * <pre>{@code
 * try (PunctualClient client =
 *     PunctualClient.of("shop")
 *         .schedulers(List.of(URI.create("http://localhost:8080")))
 *         .worker(new CloseOrder())
 *         .build()) {
 *   client.pull();
 *   client.scheduler().submit(DelayQueueJob.of("order.close").delay(HALF_AN_HOUR).build());
 * }
 * }</pre>
 */
public final class PunctualClient implements AutoCloseable {

  // Schedulers know within a second that an instance has deregistered.
  private static final Duration LEAVING = Duration.ofSeconds(5);

  private final ClientIdentity identity;
  private final int concurrency;
  private final Json json;
  private final TaskWorkers workers;
  private final SchedulerCalls calls;
  private final HttpJobScheduler scheduler;
  private final JobRunner runner;
  private final PullRunner puller;
  private final Duration drainTimeout;
  private volatile @Nullable SchedulerRegistration registration;
  private boolean closed;

  private PunctualClient(Builder options) {
    identity = new ClientIdentity(options.application, options.release);
    drainTimeout = options.drainTimeout;
    json = options.json == null ? Json.ofClassPath() : options.json;
    workers = new TaskWorkers(options.workers);
    calls =
        new SchedulerCalls(
            new SchedulerLocator(options.schedulers),
            json,
            options.timeout,
            options.token,
            options.http);
    scheduler = new HttpJobScheduler(identity, calls);
    concurrency = options.concurrency;
    runner =
        new JobRunner(
            workers,
            new JobListeners(options.listeners),
            AttemptObservations.NONE,
            "push",
            concurrency,
            type -> concurrency);
    puller =
        new PullRunner(
            identity,
            workers,
            runner,
            calls,
            concurrency,
            type -> concurrency,
            options.lease,
            drainTimeout);
  }

  /**
   * Begins a client.
   *
   * @param application its name, which schedulers know it and its jobs by
   */
  public static Builder of(String application) {
    return new Builder(new ClientIdentity(application).application());
  }

  /** Returns what submits, cancels, moves and finds jobs. */
  public JobScheduler scheduler() {
    return scheduler;
  }

  /** Returns what adds and removes workers while this client runs. */
  public Workers workers() {
    return new Workers(workers);
  }

  /** Begins to fetch the jobs of its workers and to run them. */
  public void pull() {
    puller.start();
  }

  /**
   * Registers this instance at the schedulers and renews that until {@link #close}. Call it once
   * the web server accepts calls. It returns before the instance is registered: failures are logged
   * and retried. All schedulers that share a Redis know the instance within a second, and call it.
   *
   * @param address where schedulers reach the handler of {@link #callback}, such as {@code
   *     http://10.0.0.7:8081/punctual/callback}: http or https, a host and port that no other
   *     instance has, and a plain path
   * @throws IllegalArgumentException if a part of the address is wrong; the message names the part
   * @throws IllegalStateException if the client is registered already, has no workers, or is closed
   */
  public synchronized void register(URI address) {
    if (closed) {
      throw new IllegalStateException("This client is closed. Build a new client and register it.");
    } else if (registration != null) {
      throw new IllegalStateException(
          "This client is registered already. Call register once, or build a client for each"
              + " address.");
    } else if (workers.types().isEmpty()) {
      throw new IllegalStateException(
          "This client has no workers. Add a worker to the builder, or do not register.");
    }
    SchedulerRegistration own =
        new SchedulerRegistration(
            identity,
            calls,
            () ->
                new WorkerMetadata(
                    workers.types(),
                    WorkerMetadata.DEFAULT_CALLBACK_PATH,
                    WorkerMetadata.BATCH,
                    concurrency,
                    identity.release()),
            address);
    registration = own;
    workers.onChange(own::update);
    own.register();
  }

  /**
   * Returns the handler of the schedulers' calls; put it behind a web server. Schedulers must know
   * that server: call {@link #register}, or use a registry that shows the server with the metadata
   * of {@link WorkerMetadata}.
   *
   * <p>If this client is registered, the handler refuses (421) calls for another instance.
   * Otherwise it also accepts calls for other instances of the application, since all of them have
   * the same keys.
   *
   * @param keys of this application, newest first, as the scheduler's command {@code credentials}
   *     prints them
   */
  public CallbackHandler callback(List<CallbackSignature.Key> keys) {
    return callback(
        keys,
        () -> {
          SchedulerRegistration own = registration;
          return own == null ? null : own.advertised();
        });
  }

  /**
   * Returns the handler of the schedulers' calls for one instance. It refuses (421) calls for
   * another instance.
   *
   * @param keys as for {@link #callback(List)}
   * @param advertised supplies the instance's id and address, as the registry shows them; supplies
   *     null until they are known
   */
  public CallbackHandler callback(
      List<CallbackSignature.Key> keys, Supplier<@Nullable AdvertisedCallback> advertised) {
    return new CallbackHandler(
        identity,
        runner,
        calls,
        json,
        new CallbackGuard(keys, /* acceptUnsigned= */ false, InstantSource.system()),
        advertised);
  }

  private synchronized @Nullable SchedulerRegistration deregister() {
    closed = true;
    if (registration != null) {
      registration.deregister();
    }
    return registration;
  }

  /** Takes no more jobs, waits for those that run, and ends. Then the web server may end. */
  @Override
  public void close() {
    long deadline = System.nanoTime() + drainTimeout.toNanos();
    SchedulerRegistration own = deregister();
    puller.close();
    try {
      var unused = runner.drain(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
      if (own != null) {
        runner.awaitQuiet(LEAVING);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    runner.close();
    calls.close();
  }

  /** What a client is made of. */
  public static final class Builder {

    private static final Duration MOST = Duration.ofMinutes(5);

    private final String application;
    private final Map<String, TaskWorker> workers = new LinkedHashMap<>();
    private final List<JobListener> listeners = new ArrayList<>();
    private SchedulerSource schedulers = List::of;
    private Duration timeout = Duration.ofSeconds(10);
    private Duration lease = PullRunner.LEASE;
    private Duration drainTimeout = Duration.ofSeconds(20);
    private int concurrency = 100;
    private Consumer<HttpClient.Builder> http = builder -> {};
    private @Nullable String token;
    private @Nullable String release;
    private @Nullable Json json;

    private Builder(String application) {
      this.application = application;
    }

    /**
     * Sets the base addresses of schedulers, such as {@code http://localhost:8080}; see {@link
     * SchedulerSource#of}.
     */
    public Builder schedulers(List<URI> addresses) {
      return schedulers(SchedulerSource.of(addresses));
    }

    /** Sets what is asked for the base addresses of schedulers before each call. */
    public Builder schedulers(SchedulerSource source) {
      schedulers = source;
      return this;
    }

    /** Sets the token, as the scheduler's command {@code credentials} prints it. */
    public Builder token(String token) {
      this.token = token;
      return this;
    }

    /**
     * Sets the application's release, such as {@code 2.14.0}, which schedulers show with the
     * instance and keep with each failed attempt: 1 to 64 printable ASCII characters without
     * spaces.
     */
    public Builder release(String release) {
      this.release = release;
      return this;
    }

    /** Adds a worker. */
    public Builder worker(TaskWorker worker) {
      // Two of one type are refused by their names.
      workers.put("worker " + (workers.size() + 1), worker);
      return this;
    }

    /** Adds a listener, which hears of every attempt. */
    public Builder listener(JobListener listener) {
      listeners.add(listener);
      return this;
    }

    /** Sets how many jobs run at once, 1 to 10,000; 100 by default. */
    public Builder concurrency(int concurrency) {
      this.concurrency = concurrency;
      return this;
    }

    /** Sets how long a call to schedulers may take in all, 1 s to 5 min; 10 s by default. */
    public Builder timeout(Duration timeout) {
      this.timeout = timeout;
      return this;
    }

    /** Sets how long a pulled job is held unless it is kept, 3 s to 5 min; 15 s by default. */
    public Builder lease(Duration lease) {
      this.lease = lease;
      return this;
    }

    /** Sets how long running jobs may take once the client is closed; 20 s by default. */
    public Builder drainTimeout(Duration drainTimeout) {
      this.drainTimeout = drainTimeout;
      return this;
    }

    /** Sets what the HTTP client needs: TLS, a proxy, an authenticator. */
    public Builder http(Consumer<HttpClient.Builder> customizer) {
      http = customizer;
      return this;
    }

    /** Sets the JSON library; Jackson 3 or 2 by default, whichever is there. */
    public Builder json(Json json) {
      this.json = json;
      return this;
    }

    /**
     * Makes the client. It calls nothing yet.
     *
     * @throws IllegalArgumentException if a value is out of its range
     */
    public PunctualClient build() {
      if (concurrency < 1 || concurrency > WorkerMetadata.MAX_CONCURRENCY) {
        throw new IllegalArgumentException(
            "concurrency must be between 1 and "
                + WorkerMetadata.MAX_CONCURRENCY
                + ", but was "
                + concurrency);
      }
      requireRange("timeout", timeout, Duration.ofSeconds(1));
      requireRange("lease", lease, Duration.ofSeconds(3));
      return new PunctualClient(this);
    }

    private static void requireRange(String name, Duration value, Duration least) {
      if (value.compareTo(least) < 0 || value.compareTo(MOST) > 0) {
        throw new IllegalArgumentException(
            "%s must be between %d s and %d s, but was %d ms"
                .formatted(name, least.toSeconds(), MOST.toSeconds(), value.toMillis()));
      }
    }
  }
}
