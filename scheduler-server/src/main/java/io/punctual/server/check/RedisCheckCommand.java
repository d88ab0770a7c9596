package io.punctual.server.check;

import io.punctual.core.store.StoreException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The command {@code check-redis URL}: checks on throw-away keys what Punctual needs of a server,
 * and says in a table what works.
 */
public final class RedisCheckCommand {

  /** The word by which it is called. */
  public static final String NAME = "check-redis";

  private static final String USAGE =
      "Usage: check-redis URL [--cluster] [--key-prefix=PREFIX]. The URL is"
          + " redis://[[user]:password@]host[:port][/database], or rediss:// for TLS.";

  private static final String CLUSTER = "--cluster";
  private static final String KEY_PREFIX = "--key-prefix=";
  private static final String USER = "SPRING_DATA_REDIS_USERNAME";
  private static final String PASSWORD = "SPRING_DATA_REDIS_PASSWORD";
  private static final long REMOVAL_S = 30;

  private final Function<String, @Nullable String> environment;
  private final PrintStream out;
  private final PrintStream err;
  private final String suffix;
  private List<String> called = List.of();
  // Guarded by this: the keys are being removed, which is not to be interrupted.
  private boolean removing;

  /**
   * Makes the command.
   *
   * @param environment variables by name
   */
  public RedisCheckCommand(
      Function<String, @Nullable String> environment, PrintStream out, PrintStream err) {
    this(environment, out, err, HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt()));
  }

  /**
   * @param suffix what tells the keys of this check from others: 8 characters of [0-9a-f]
   */
  RedisCheckCommand(
      Function<String, @Nullable String> environment,
      PrintStream out,
      PrintStream err,
      String suffix) {
    this.environment = environment;
    this.out = out;
    this.err = err;
    this.suffix = suffix;
  }

  /** The commands of Redis that were tried. */
  List<String> called() {
    return called;
  }

  /**
   * Checks a server.
   *
   * @param arguments what follows the command's name
   * @return 0 if all that is needed works, 1 if something is missing, 2 if the command is wrong or
   *     the server cannot be reached
   */
  public int run(List<String> arguments) {
    List<String> urls = new ArrayList<>();
    boolean cluster = false;
    String prefix = "punctual";
    for (String argument : arguments) {
      if (argument.equals(CLUSTER)) {
        cluster = true;
      } else if (argument.startsWith(KEY_PREFIX)) {
        prefix = argument.substring(KEY_PREFIX.length());
      } else if (argument.startsWith("-")) {
        // The value may be a secret.
        return wrong("check-redis has no option " + argument.replaceAll("=.*", "") + ". " + USAGE);
      } else {
        urls.add(argument);
      }
    }
    if (urls.size() != 1) {
      return wrong("check-redis needs one URL, and got " + urls.size() + ". " + USAGE);
    }
    if (!prefix.matches("[A-Za-z0-9._-]{1,32}")) {
      return wrong("--key-prefix must be 1 to 32 characters of [A-Za-z0-9._-], as key-prefix is.");
    }
    RedisUrl url;
    try {
      url = RedisUrl.parse(urls.get(0)).orLogin(variable(USER), variable(PASSWORD));
    } catch (IllegalArgumentException e) {
      return wrong(String.valueOf(e.getMessage()));
    }
    return interruptibly(url, cluster, prefix + ":check-" + suffix);
  }

  private String variable(String name) {
    String value = environment.apply(name);
    return value == null ? "" : value;
  }

  private int wrong(String text) {
    err.println(text);
    return 2;
  }

  // A signal ends the check, and the program waits until its keys are gone.
  private int interruptibly(RedisUrl url, boolean cluster, String prefix) {
    Table table = new Table(out, url.password());
    Thread checking = Thread.currentThread();
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook = new Thread(() -> interrupt(table, checking, ended), "check-redis-end");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return check(url, cluster, prefix, table);
    } finally {
      ended.countDown();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The program ends already, by the signal.
        out.flush();
      }
    }
  }

  private void interrupt(Table table, Thread checking, CountDownLatch ended) {
    synchronized (this) {
      if (!removing) {
        table.stop();
        checking.interrupt();
      }
    }
    try {
      if (!ended.await(REMOVAL_S, TimeUnit.SECONDS)) {
        err.println("Ended before all keys of the check were removed.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int check(RedisUrl url, boolean cluster, String prefix, Table table) {
    boolean interrupted = false;
    try (RedisCheck check = new RedisCheck(url, cluster, prefix, table)) {
      out.println(check);
      out.println("All keys of this check begin with " + prefix + " and are removed at its end.");
      try {
        called = check.run();
      } catch (InterruptedException e) {
        interrupted = true;
      } finally {
        removalBegins();
      }
    } catch (RedisCheck.ImpossibleException e) {
      return wrong(String.valueOf(e.getMessage()));
    } catch (StoreException e) {
      return wrong("The check ended early: " + e.getMessage());
    }
    out.println();
    out.println(
        interrupted
            ? "Interrupted."
            : table.failures() == 0
                ? "All checks passed."
                : table.failures() + " of the checks failed: see the lines with FAIL.");
    return interrupted || table.failures() > 0 ? 1 : 0;
  }

  private synchronized void removalBegins() {
    removing = true;
    var unused = Thread.interrupted();
  }
}
