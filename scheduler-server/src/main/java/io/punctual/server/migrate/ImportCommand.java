package io.punctual.server.migrate;

import io.punctual.internal.ConfiguredUrl;
import io.punctual.server.check.RedisUrl;
import io.punctual.server.migrate.OldLibrary.UnreadableException;
import io.punctual.server.migrate.Submissions.UnavailableException;
import io.punctual.wire.Limits;
import java.io.PrintStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The command {@code import-jobs}: moves the jobs that wait in another library's Redis to a
 * scheduler, while both sides run.
 */
public final class ImportCommand {

  /** The word by which it is called. */
  public static final String NAME = "import-jobs";

  private static final String USAGE =
      "Usage: import-jobs redisson|bullmq|sorted-set REDIS_URL QUEUE --application=NAME"
          + " --task-type=NAME [--scheduler=URL] [--base64] [--seconds].";

  private static final String SCHEDULER = "--scheduler";
  private static final String APPLICATION = "--application";
  private static final String TASK_TYPE = "--task-type";
  private static final String BASE64 = "--base64";
  private static final String SECONDS = "--seconds";
  private static final Set<String> VALUES = Set.of(SCHEDULER, APPLICATION, TASK_TYPE);
  private static final Set<String> FLAGS = Set.of(BASE64, SECONDS);

  private static final int TAKEN_AT_ONCE = 500;
  private static final int MAX_BATCH_CHARS = 1 << 20;
  private static final int TOLD_EACH = 10_000;
  private static final int REASONS = 5;
  private static final int LATER_MS = 1_000;
  private static final int MAX_IDLE = 30;

  private final Function<String, @Nullable String> environment;
  private final PrintStream out;
  private final PrintStream err;
  private long moved;
  private long refused;

  /**
   * Makes the command.
   *
   * @param environment variables by name
   */
  public ImportCommand(
      Function<String, @Nullable String> environment, PrintStream out, PrintStream err) {
    this.environment = environment;
    this.out = out;
    this.err = err;
  }

  /** What the command line says. */
  private record Arguments(List<String> words, Map<String, String> values) {

    static Arguments read(List<String> arguments) {
      List<String> words = new ArrayList<>();
      Map<String, String> values = new HashMap<>();
      for (String argument : arguments) {
        if (!argument.startsWith("--")) {
          words.add(argument);
          continue;
        }
        int sign = argument.indexOf('=');
        String name = sign < 0 ? argument : argument.substring(0, sign);
        if (!(sign < 0 ? FLAGS : VALUES).contains(name)) {
          throw new IllegalArgumentException(
              VALUES.contains(name)
                  ? name + " needs a value. " + USAGE
                  : "import-jobs has no option " + name + ". " + USAGE);
        }
        if (values.put(name, argument.substring(sign + 1)) != null) {
          throw new IllegalArgumentException(name + " is given twice. " + USAGE);
        }
      }
      if (words.size() != 3) {
        throw new IllegalArgumentException(
            "import-jobs needs a library, a URL and a queue, and got "
                + words.size()
                + ". "
                + USAGE);
      }
      return new Arguments(words, values);
    }

    private String required(String option) {
      String value = values.get(option);
      if (value == null) {
        throw new IllegalArgumentException(option + " is missing. " + USAGE);
      }
      Limits.requireName(option, value);
      return value;
    }
  }

  /**
   * Moves jobs.
   *
   * @param arguments what follows the command's name
   * @return 0 if all were moved, 1 if some were refused or the move broke off, 2 if the command is
   *     wrong
   */
  public int run(List<String> arguments) {
    Arguments given;
    OldLibrary library;
    RedisUrl url;
    Submissions submissions;
    try {
      given = Arguments.read(arguments);
      library =
          OldLibrary.named(given.words().get(0))
              .orElseThrow(
                  () -> new IllegalArgumentException("The library is not known. " + USAGE));
      url = RedisUrl.parse(given.words().get(1));
      submissions =
          new Submissions(
              scheduler(given.values().getOrDefault(SCHEDULER, "http://localhost:8080")),
              variable("PUNCTUAL_TOKEN"),
              given.required(APPLICATION),
              given.required(TASK_TYPE));
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    }
    OldLibrary.Format format =
        new OldLibrary.Format(
            given.values().containsKey(BASE64), given.values().containsKey(SECONDS));
    String name = given.words().get(2);
    try (UnifiedJedis redis = url.connect()) {
      OldQueue queue = new OldQueue(redis, library, name);
      queue.open();
      try {
        queue.putBack();
        move(
            queue,
            entry -> library.read(redis, name, entry.score(), entry.value(), format),
            submissions);
      } finally {
        queue.close();
      }
    } catch (JedisException | UnavailableException | IllegalStateException e) {
      err.println(String.valueOf(e.getMessage()).replaceFirst("\\.$", "") + ".");
      err.println(
          "%,d jobs were moved. No job is lost: the old Redis keeps those that were taken and not"
                  .formatted(moved)
              + " moved yet. Run the same command again to go on.");
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
    out.println(
        "%,d jobs were moved.%s"
            .formatted(
                moved,
                refused == 0
                    ? ""
                    : " %,d were refused and are where they were.".formatted(refused)));
    return refused == 0 ? 0 : 1;
  }

  private static URI scheduler(String text) {
    URI url = ConfiguredUrl.parsed(SCHEDULER, text);
    String flaw = ConfiguredUrl.flaw(url);
    if (flaw != null) {
      throw new IllegalArgumentException(
          "%s must be a URL such as http://scheduler:8080, but was '%s': %s"
              .formatted(SCHEDULER, ConfiguredUrl.masked(url), flaw));
    }
    return url;
  }

  private String variable(String name) {
    String value = environment.apply(name);
    return value == null ? "" : value;
  }

  /** Reads an entry of the old queue. */
  private interface Reader {
    OldJob read(OldQueue.Entry entry) throws UnreadableException;
  }

  /** Jobs that are submitted together, with the entries that they were. */
  private record Batch(List<OldQueue.Entry> entries, List<OldJob> jobs) {

    Batch() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void add(OldQueue.Entry entry, OldJob job) {
      entries.add(entry);
      jobs.add(job);
    }
  }

  private void move(OldQueue queue, Reader reader, Submissions submissions)
      throws UnavailableException, InterruptedException {
    do {
      // At first what an earlier run has left.
      Batch batch = new Batch();
      int size = 0;
      for (OldQueue.Entry entry : queue.taken()) {
        try {
          OldJob job = reader.read(entry);
          if (!Limits.isParams(job.params())) {
            throw new UnreadableException(
                "has a payload of more than %,d bytes".formatted(Limits.MAX_PARAMS_BYTES));
          }
          batch.add(entry, job);
          size += job.params().length();
        } catch (UnreadableException e) {
          refuse(queue, entry, String.valueOf(e.getMessage()));
        }
        if (size >= MAX_BATCH_CHARS) {
          submit(queue, batch, submissions);
          batch = new Batch();
          size = 0;
        }
      }
      submit(queue, batch, submissions);
      queue.hold();
    } while (queue.take(TAKEN_AT_ONCE) > 0);
  }

  private void submit(OldQueue queue, Batch batch, Submissions submissions)
      throws UnavailableException, InterruptedException {
    Batch left = batch;
    int idle = 0;
    while (!left.jobs().isEmpty()) {
      queue.hold();
      List<Submissions.Result> results = submissions.submit(left.jobs());
      Batch stored = new Batch();
      Batch later = new Batch();
      String why = "";
      for (int i = 0; i < results.size(); i++) {
        OldQueue.Entry entry = left.entries().get(i);
        switch (results.get(i).kind()) {
          case STORED -> stored.add(entry, left.jobs().get(i));
          case REFUSED -> refuse(queue, entry, "was refused: " + results.get(i).why());
          case LATER -> {
            later.add(entry, left.jobs().get(i));
            why = results.get(i).why();
          }
        }
      }
      moved(queue, stored);
      idle = later.jobs().size() < left.jobs().size() ? 0 : idle + 1;
      if (idle > MAX_IDLE) {
        throw new UnavailableException("The scheduler takes no jobs now: " + why);
      }
      if (!later.jobs().isEmpty()) {
        Thread.sleep(LATER_MS);
      }
      left = later;
    }
  }

  private void moved(OldQueue queue, Batch stored) {
    queue.moved(stored.entries(), stored.jobs());
    long before = moved;
    moved += stored.jobs().size();
    if (before / TOLD_EACH != moved / TOLD_EACH) {
      out.println("%,d jobs moved".formatted(moved));
    }
  }

  private void refuse(OldQueue queue, OldQueue.Entry entry, String why) {
    queue.refuse(entry);
    refused++;
    if (refused <= REASONS) {
      err.println("A job " + why);
    }
  }
}
