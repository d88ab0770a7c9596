package io.punctual.spring.once;

import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.internal.Invocation;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spring.Once;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Puts the filter of {@code once: database} before each worker that is set to it. */
public final class OnceFilters implements SmartInitializingSingleton, DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(OnceFilters.class);
  private static final long CLEANING_SECONDS = 600;

  private record Demand(TaskWorkers workers, Function<String, @Nullable Once> once) {}

  private final @Nullable OnceSource source;
  private final Consumer<String> skipped;
  private final List<Demand> demands = new ArrayList<>();
  private @Nullable OnceFilter filter;
  private final ScheduledThreadPoolExecutor cleaner =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "punctual-once-cleaner");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param source of the filter; null where JDBC is not on the class path
   * @param skipped told the task type of each job that is left out
   */
  public OnceFilters(@Nullable OnceSource source, Consumer<String> skipped) {
    this.source = source;
    this.skipped = skipped;
  }

  /**
   * Puts filters before workers, also before those that come later.
   *
   * @param once what is set for a task type
   */
  public void apply(TaskWorkers workers, Function<String, @Nullable Once> once) {
    demands.add(new Demand(workers, once));
    workers.wrap(
        worker -> once.apply(worker.type()) == Once.DATABASE ? new Filtered(worker) : worker);
  }

  /**
   * Makes the filter, if a worker is set to it.
   *
   * @throws WorkerSetupException if the application lacks what the filter needs
   */
  @Override
  public void afterSingletonsInstantiated() {
    for (Demand demand : demands) {
      for (String type : demand.workers().types()) {
        if (demand.once().apply(type) == Once.DATABASE) {
          var unused = filter();
        }
      }
    }
  }

  private synchronized OnceFilter filter() {
    OnceFilter known = filter;
    if (known == null) {
      known = open();
      filter = known;
      var unused =
          cleaner.scheduleWithFixedDelay(
              new Cleaning(known),
              ThreadLocalRandom.current().nextLong(CLEANING_SECONDS),
              CLEANING_SECONDS,
              TimeUnit.SECONDS);
    }
    return known;
  }

  private OnceFilter open() {
    if (source == null) {
      throw new WorkerSetupException(
          "A worker is set to once: database, and there is no database.",
          "Add spring-boot-starter-jdbc or spring-boot-starter-data-jpa, and a DataSource.");
    }
    return source.open();
  }

  record Cleaning(OnceFilter filter) implements Runnable {
    @Override
    public void run() {
      try {
        filter.clean();
      } catch (RuntimeException | Error e) {
        // Also an Error, with which the timer would end.
        log.warn(
            "Punctual: which jobs are done could not be cleaned up, trying again: {}",
            e.toString());
      }
    }
  }

  @Override
  public void destroy() {
    cleaner.shutdownNow();
  }

  /** A worker behind a filter. */
  private final class Filtered implements TaskWorker {

    private final TaskWorker worker;

    Filtered(TaskWorker worker) {
      this.worker = worker;
    }

    @Override
    public String type() {
      return worker.type();
    }

    @Override
    public Class<?> clazz() {
      return worker.clazz();
    }

    @Override
    public void invoke(String params) {
      throw new IllegalStateException("which job it is must be known, to run it once");
    }

    @Override
    public CompletionStage<?> invokeAsync(String params, TaskContext context) throws Exception {
      if (!filter().run(context, () -> work(params, new OnceContext(context)))) {
        log.info(
            "Job {} of {} was done already; attempt {} is left out",
            context.taskId(),
            context.taskType(),
            context.attempt());
        skipped.accept(context.taskType());
      }
      return CompletableFuture.completedFuture(null);
    }

    // A future is waited for here: that the job is done is written down, in a transaction of this
    // thread or beside the work, when it is.
    private void work(String params, TaskContext context) throws Exception {
      CompletionStage<?> stage = worker.invokeAsync(params, context);
      try {
        var unused = stage.toCompletableFuture().get();
      } catch (ExecutionException e) {
        Throwable cause = Invocation.cause(e);
        if (cause instanceof Exception exception) {
          throw exception;
        } else if (cause instanceof Error error) {
          throw error;
        }
        throw e;
      } catch (InterruptedException e) {
        Invocation.cancel(stage);
        throw e;
      }
    }
  }
}
