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
      queue.putBack();
      try {
        move(
            queue,
            entry -> library.read(redis, name, entry.score(), entry.value(), format),
            submissions);
      } finally {
        queue.putBack();
      }
    } catch (JedisException | UnavailableException | IllegalStateException e) {
      err.println(e.getMessage() + ".");
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

  private void move(OldQueue queue, Reader reader, Submissions submissions)
      throws UnavailableException, InterruptedException {
    do {
      // At first what an earlier run has left.
      List<OldQueue.Entry> entries = new ArrayList<>();
      List<OldJob> jobs = new ArrayList<>();
      int size = 0;
      for (OldQueue.Entry entry : queue.taken()) {
        OldJob job;
        try {
          job = reader.read(entry);
        } catch (UnreadableException e) {
          refuse(queue, entry, String.valueOf(e.getMessage()));
          continue;
        }
        entries.add(entry);
        jobs.add(job);
        size += job.params().length();
        if (size >= MAX_BATCH_CHARS || jobs.size() == TAKEN_AT_ONCE) {
          submit(queue, entries, jobs, submissions);
          size = 0;
        }
      }
      submit(queue, entries, jobs, submissions);
    } while (queue.take(TAKEN_AT_ONCE) > 0);
  }

  private void submit(
      OldQueue queue, List<OldQueue.Entry> entries, List<OldJob> jobs, Submissions submissions)
      throws UnavailableException, InterruptedException {
    if (jobs.isEmpty()) {
      return;
    }
    List<String> refusals = submissions.submit(jobs);
    List<OldQueue.Entry> stored = new ArrayList<>();
    for (int i = 0; i < entries.size(); i++) {
      if (refusals.get(i).isEmpty()) {
        stored.add(entries.get(i));
      } else {
        refuse(queue, entries.get(i), "was refused: " + refusals.get(i));
      }
    }
    queue.moved(stored);
    long before = moved;
    moved += stored.size();
    if (before / TOLD_EACH != moved / TOLD_EACH) {
      out.println("%,d jobs moved".formatted(moved));
    }
    entries.clear();
    jobs.clear();
  }

  private void refuse(OldQueue queue, OldQueue.Entry entry, String why) {
    queue.refuse(entry);
    refused++;
    if (refused <= REASONS) {
      err.println("A job " + why);
    }
  }
}
