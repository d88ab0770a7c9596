package io.punctual.systemtest.worker;

import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.client.ClientIdentity;
import io.punctual.client.Workers;
import io.punctual.client.pull.PullRunner;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.Execution;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Runs jobs of the type {@value #TYPE}, whose params are {@code <task id> <what to do>}, or {@code
 * <task id>@<version of the content> <what to do>}: {@code record}, {@code sleep <ms>}, {@code
 * later <ms>} (a future), {@code defer <file>} (the handle goes there), {@code overrun <ms> <n>}
 * (that long in one of n runs, interrupted or not), {@code fail <times>}, {@code reject <text>},
 * {@code halt}, {@code add <type>} and {@code remove <type>} (a worker of this instance). With
 * {@code worker.slower} sleeps take so many times as long. Each invocation is in the record file
 * before anything else happens, so that it survives a kill -9. Runs with Spring Boot 3.5, too.
 */
@SpringBootApplication
@Import(WorkerApplication.ExtraTypes.class)
public class WorkerApplication {

  /** The task type. */
  public static final String TYPE = "job";

  /** Property: the task type, if it is another one. */
  public static final String OWN = "worker.type";

  /** Property: other task types that it knows, with commas between them. */
  public static final String EXTRA = "worker.extra";

  /** Property: whether it adds its first worker once it is up, and is registered without any. */
  public static final String LATER = "worker.later";

  /** Property: how long a fetched job is held unless it is kept, if not as in an application. */
  public static final String PULL_LEASE = "worker.pull-lease";

  /** Property: the record file. */
  public static final String RECORD = "worker.record";

  private static final Senders SENDERS = new Senders();

  public static void main(String[] args) {
    SpringApplication.run(WorkerApplication.class, args);
  }

  @Bean
  @ConditionalOnProperty(name = LATER, havingValue = "false", matchIfMissing = true)
  TaskWorker jobs(
      @Value("${" + OWN + ":" + TYPE + "}") String type,
      @Value("${" + RECORD + "}") Path record,
      @Value("${worker.slower:1}") int slower,
      ObjectProvider<Workers> workers)
      throws IOException {
    return new Jobs(type, open(record), slower, workers);
  }

  @Bean
  @ConditionalOnProperty(LATER)
  ApplicationRunner laterJobs(
      @Value("${" + OWN + "}") String type,
      @Value("${" + RECORD + "}") Path record,
      ObjectProvider<Workers> workers) {
    return arguments -> workers.getObject().add(new Jobs(type, open(record), 1, workers));
  }

  /** A worker for each other type. */
  static final class ExtraTypes implements ImportBeanDefinitionRegistrar {

    private final Environment environment;
    private final ObjectProvider<Workers> workers;

    ExtraTypes(Environment environment, BeanFactory beans) {
      this.environment = environment;
      this.workers = beans.getBeanProvider(Workers.class);
    }

    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      String[] types = environment.getProperty(EXTRA, String[].class, new String[0]);
      Path record = Path.of(environment.getRequiredProperty(RECORD));
      for (String type : types) {
        registry.registerBeanDefinition(
            "jobs-" + type,
            BeanDefinitionBuilder.genericBeanDefinition(
                    TaskWorker.class, () -> new Jobs(type, opened(record), 1, workers))
                .getBeanDefinition());
      }
    }

    private static OutputStream opened(Path record) {
      try {
        return open(record);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Bean
  @ConditionalOnProperty(PULL_LEASE)
  PullRunner pullRunner(
      ClientIdentity identity,
      TaskWorkers workers,
      JobRunner runner,
      SchedulerCalls calls,
      PunctualProperties properties,
      @Value("${" + PULL_LEASE + "}") Duration lease) {
    int most = properties.concurrency();
    return new PullRunner(
        identity, workers, runner, calls, most, type -> most, lease, properties.shutdownPatience());
  }

  @Bean
  @ConditionalOnProperty("worker.senders")
  Senders senders() {
    return SENDERS;
  }

  // Not a channel: an interrupt in the midst of a line would close it for all jobs.
  private static OutputStream open(Path record) throws IOException {
    return new FileOutputStream(record.toFile(), /* append= */ true);
  }

  private static final class Jobs implements TaskWorker {

    // Of all types together.
    private static final AtomicLong RUNS = new AtomicLong();

    private final String type;
    private final OutputStream record;
    private final int slower;
    private final ObjectProvider<Workers> workers;
    private final Map<String, Integer> failures = new ConcurrentHashMap<>();

    Jobs(String type, OutputStream record, int slower, ObjectProvider<Workers> workers) {
      this.type = type;
      this.record = record;
      this.slower = slower;
      this.workers = workers;
    }

    @Override
    public String type() {
      return type;
    }

    @Override
    public CompletionStage<?> invokeAsync(String params, TaskContext context) throws Exception {
      String[] words = params.split(" ", 3);
      if (words[1].equals("defer")) {
        String run = begin(words, EpochMicros.now());
        Path whole = Path.of(words[2] + ".new");
        Files.writeString(whole, context.defer(Duration.ofHours(1)));
        write(Execution.endLine(run, words[0], EpochMicros.now(), Execution.Ending.DONE));
        Files.move(whole, Path.of(words[2]), StandardCopyOption.ATOMIC_MOVE);
        return CompletableFuture.completedFuture(null);
      } else if (!words[1].equals("later")) {
        return TaskWorker.super.invokeAsync(params, context);
      }
      String run = begin(words, EpochMicros.now());
      Executor then =
          CompletableFuture.delayedExecutor(Long.parseLong(words[2]), TimeUnit.MILLISECONDS);
      return CompletableFuture.runAsync(
          () -> {
            try {
              write(Execution.endLine(run, words[0], EpochMicros.now(), Execution.Ending.DONE));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          },
          then);
    }

    private String begin(String[] words, long now) throws IOException {
      String run = ProcessHandle.current().pid() + "-" + RUNS.incrementAndGet();
      String taskId = Execution.taskIdOf(words[0]);
      write(Execution.beginLine(run, words[0], now, SENDERS.of(taskId), SENDERS.claimed(taskId)));
      words[0] = taskId;
      return run;
    }

    @Override
    public void invoke(String params) throws Exception {
      long now = EpochMicros.now();
      String[] words = params.split(" ", 3);
      String run = begin(words, now);
      Execution.Ending ending = Execution.Ending.FAILED;
      try {
        act(words);
        ending = Execution.Ending.DONE;
      } finally {
        write(Execution.endLine(run, words[0], EpochMicros.now(), ending));
      }
    }

    private void act(String[] words) throws Exception {
      switch (words[1]) {
        case "record" -> {}
        // The work itself, which takes as long as the test says; an interrupt ends it, as it
        // would any other. No test waits here for something to happen.
        case "sleep" -> Thread.sleep(slower * Long.parseLong(words[2]));
        case "overrun" -> overrun(words[2].split(" ", 2));
        case "fail" -> {
          int failed = failures.merge(words[0], 1, Integer::sum);
          if (failed <= Integer.parseInt(words[2])) {
            throw new IllegalStateException("failure " + failed + " of " + words[2]);
          }
        }
        case "reject" -> throw new RejectTaskException(words[2]);
        case "add" -> workers.getObject().add(new Jobs(words[2], record, slower, workers));
        case "remove" -> workers.getObject().remove(words[2]);
        case "halt" -> Runtime.getRuntime().halt(1);
        default -> throw new IllegalArgumentException("unknown: " + words[1]);
      }
    }

    /** Work that hears no interrupt: it goes on when its time is over. */
    private static void overrun(String[] words) {
      if (ThreadLocalRandom.current().nextInt(Integer.parseInt(words[1])) > 0) {
        return;
      }
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[0]));
      for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
        LockSupport.parkNanos(left);
        var unused = Thread.interrupted();
      }
    }

    private void write(String line) throws IOException {
      // One write call for each line: appends are atomic, also between threads.
      record.write(line.getBytes(StandardCharsets.US_ASCII));
    }
  }
}
