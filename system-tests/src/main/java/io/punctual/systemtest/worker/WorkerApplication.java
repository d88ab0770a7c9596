package io.punctual.systemtest.worker;

import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.Execution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * Runs jobs of the type {@value #TYPE}, whose params are {@code <task id> <what to do>}: {@code
 * record}, {@code sleep <ms>}, {@code later <ms>} (a future), {@code defer <file>} (the handle goes
 * there), {@code fail <times>}, {@code reject <text>}, {@code halt}. With {@code worker.slower}
 * sleeps take so many times as long. Each invocation is in the record file before anything else
 * happens, so that it survives a kill -9.
 */
@SpringBootApplication
public class WorkerApplication {

  /** The task type. */
  public static final String TYPE = "job";

  /** Another one, which it knows with {@code worker.extra} only. */
  public static final String EXTRA_TYPE = "extra";

  /** Property: the record file. */
  public static final String RECORD = "worker.record";

  private static final Senders SENDERS = new Senders();

  public static void main(String[] args) {
    SpringApplication.run(WorkerApplication.class, args);
  }

  @Bean
  TaskWorker jobs(@Value("${" + RECORD + "}") Path record, @Value("${worker.slower:1}") int slower)
      throws IOException {
    return new Jobs(TYPE, open(record), slower);
  }

  @Bean
  @ConditionalOnProperty("worker.extra")
  TaskWorker extraJobs(@Value("${" + RECORD + "}") Path record) throws IOException {
    return new Jobs(EXTRA_TYPE, open(record), 1);
  }

  @Bean
  @ConditionalOnProperty("worker.senders")
  Senders senders() {
    return SENDERS;
  }

  private static FileChannel open(Path record) throws IOException {
    return FileChannel.open(
        record, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  private static final class Jobs implements TaskWorker {

    // Of all types together.
    private static final AtomicLong RUNS = new AtomicLong();

    private final String type;
    private final FileChannel record;
    private final int slower;
    private final Map<String, Integer> failures = new ConcurrentHashMap<>();

    Jobs(String type, FileChannel record, int slower) {
      this.type = type;
      this.record = record;
      this.slower = slower;
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
      write(Execution.beginLine(run, words[0], now, SENDERS.of(words[0])));
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
        // would any other. Nobody waits here for something to happen.
        case "sleep" -> Thread.sleep(slower * Long.parseLong(words[2]));
        case "fail" -> {
          int failed = failures.merge(words[0], 1, Integer::sum);
          if (failed <= Integer.parseInt(words[2])) {
            throw new IllegalStateException("failure " + failed + " of " + words[2]);
          }
        }
        case "reject" -> throw new RejectTaskException(words[2]);
        case "halt" -> Runtime.getRuntime().halt(1);
        default -> throw new IllegalArgumentException("unknown: " + words[1]);
      }
    }

    private void write(String line) throws IOException {
      // One write call for each line: appends are atomic, also between threads.
      int written = record.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
      if (written != line.length()) {
        throw new IOException("the record could not be written whole");
      }
    }
  }
}
