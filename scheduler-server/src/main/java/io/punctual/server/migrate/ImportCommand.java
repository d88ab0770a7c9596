package io.punctual.server.migrate;

import io.punctual.internal.ConfiguredUrl;
import io.punctual.server.check.RedisUrl;
import io.punctual.wire.Limits;
import java.io.PrintStream;
import java.net.URI;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The command {@code import-jobs}: moves the jobs that wait in another library's Redis or database
 * to a scheduler, while both sides run.
 */
public final class ImportCommand {

  /** The word by which it is called. */
  public static final String NAME = "import-jobs";

  private static final String USAGE =
      "Usage: import-jobs redisson|bullmq|sorted-set REDIS_URL QUEUE --application=NAME"
          + " --task-type=NAME [--scheduler=URL] [--base64] [--seconds] [--dry-run], or import-jobs"
          + " db-scheduler|quartz|xxl-job|jobrunr JDBC_URL TASK with the same and [--table=NAME]"
          + " [--zone=ZONE]. PUNCTUAL_IMPORT_PASSWORD is the password of that Redis or database.";

  private static final String SCHEDULER = "--scheduler";
  private static final String APPLICATION = "--application";
  private static final String TASK_TYPE = "--task-type";
  private static final String TABLE = "--table";
  private static final String ZONE = "--zone";
  private static final String BASE64 = "--base64";
  private static final String SECONDS = "--seconds";
  private static final String DRY_RUN = "--dry-run";
  private static final Set<String> VALUES = Set.of(SCHEDULER, APPLICATION, TASK_TYPE, TABLE, ZONE);
  private static final Set<String> FLAGS = Set.of(BASE64, SECONDS, DRY_RUN);

  private final Function<String, @Nullable String> environment;
  private final PrintStream out;
  private final PrintStream err;

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

    String library() {
      return words.get(0);
    }

    String url() {
      return words.get(1);
    }

    String queue() {
      return words.get(2);
    }

    boolean has(String option) {
      return values.containsKey(option);
    }

    /** Refuses options that mean nothing for this library. */
    void refuse(String... options) {
      for (String option : options) {
        if (has(option)) {
          throw new IllegalArgumentException(
              option + " means nothing for " + library() + ". " + USAGE);
        }
      }
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
   * @return 0 if all were moved, 1 if some were refused or left to the old side, or if the move
   *     broke off, 2 if the command is wrong
   */
  public int run(List<String> arguments) {
    Arguments given;
    SchedulerHttp scheduler;
    Supplier<OldStore<?>> store;
    try {
      given = Arguments.read(arguments);
      scheduler =
          new SchedulerHttp(
              scheduler(given.values().getOrDefault(SCHEDULER, "http://localhost:8080")),
              variable("PUNCTUAL_TOKEN"));
      store = store(given, variable("PUNCTUAL_IMPORT_PASSWORD"));
      given.required(APPLICATION);
      given.required(TASK_TYPE);
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    }
    try (OldStore<?> opened = store.get()) {
      return run(given, scheduler, opened);
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    } catch (JedisException | IllegalStateException e) {
      err.println(sentence(e));
      return 1;
    }
  }

  private <E> int run(Arguments given, SchedulerHttp scheduler, OldStore<E> store) {
    String application = given.required(APPLICATION);
    Move<E> move =
        new Move<>(
            store,
            new Submissions(scheduler, application, given.required(TASK_TYPE)),
            new RemoteSchedules(scheduler, application),
            InstantSource.system(),
            out,
            err);
    try {
      store.open();
      if (given.has(DRY_RUN)) {
        move.look();
        return move.isWhole() ? 0 : 1;
      }
      move.run();
    } catch (JedisException | UnavailableException | IllegalStateException e) {
      err.println(sentence(e));
      err.println(
          move.done()
              + " No job is lost: the old store keeps those that were taken and not moved yet. Run"
              + " the same command again to go on.");
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
    out.println(move.done() + move.left());
    return move.isWhole() ? 0 : 1;
  }

  private static String sentence(Exception e) {
    return String.valueOf(e.getMessage()).replaceFirst("\\.$", "") + ".";
  }

  /** Returns what connects to the store: only then the command line is known to be right. */
  private static Supplier<OldStore<?>> store(Arguments given, String password) {
    PayloadFormat format = new PayloadFormat(given.has(BASE64), given.has(SECONDS));
    Optional<SqlLibrary> sql = SqlLibrary.named(given.library());
    if (sql.isPresent()) {
      given.refuse(SECONDS);
      if (sql.get() != SqlLibrary.XXL_JOB) {
        given.refuse(ZONE);
      }
      if (sql.get() == SqlLibrary.JOBRUNR) {
        // Its payloads are JSON.
        given.refuse(BASE64);
      }
      return () -> sqlStore(sql.get(), given, format, password);
    }
    OldLibrary library =
        OldLibrary.named(given.library())
            .orElseThrow(() -> new IllegalArgumentException("The library is not known. " + USAGE));
    given.refuse(TABLE, ZONE);
    RedisUrl url = RedisUrl.parse(given.url()).orPassword(password);
    return () -> new OldQueue(url.connect(), library, given.queue(), format);
  }

  private static OldStore<?> sqlStore(
      SqlLibrary library, Arguments given, PayloadFormat format, String password) {
    String table =
        SqlLibrary.requireTable(TABLE, given.values().getOrDefault(TABLE, library.defaultTable()));
    SqlTables tables =
        library.tables(
            table,
            given.queue(),
            given.required(TASK_TYPE),
            new SqlLibrary.Options(format, zone(given), InstantSource.system()));
    return SqlStore.connect(
        given.url(), password, tables, library.word() + " " + table + " " + given.queue());
  }

  private static ZoneId zone(Arguments given) {
    String name = given.values().get(ZONE);
    if (name == null) {
      return ZoneId.systemDefault();
    } else if (!ZoneId.getAvailableZoneIds().contains(name)) {
      throw new IllegalArgumentException(
          ZONE
              + " must be a name of the IANA time zone database, such as Asia/Shanghai, but was '"
              + name
              + "'.");
    }
    return ZoneId.of(name);
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
}
