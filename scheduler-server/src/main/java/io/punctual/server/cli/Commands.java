package io.punctual.server.cli;

import io.punctual.server.check.RedisCheckCommand;
import io.punctual.server.migrate.ImportCommand;
import io.punctual.server.security.ApplicationTokens;
import io.punctual.server.security.SecurityProperties;
import io.punctual.server.text.Printable;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.Limits;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.cloud.bootstrap.LoggingSystemShutdownListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;

/** Instead of being started, the program makes or ends credentials, or tries a server. */
public final class Commands {

  private static final String USAGE =
      """
      commands, before the scheduler's own options (--spring.data.redis.host=... and so on):
        signing-key                 a new secret for punctual.security.signing-keys
        password                    the hash of a password, read from standard input, for
                                    punctual.security.operators.NAME.password
        credentials APPLICATION     a new token and the callback keys of an application, as
                                    properties for its configuration; shown once
          --file=FILE               writes them there, for the owner's eyes only; a file that is
                                    there already stays as it is
        tokens                      the tokens that live, without their secrets
        revoke ID                   ends a token
        check-redis URL             checks whether the Redis at
                                    redis://[[user]:password@]host[:port][/database], or rediss://,
                                    can hold jobs; takes
          --cluster                 treat the server as a node of a cluster
          --key-prefix=PREFIX       the first part of all keys (default: punctual)
        import-jobs LIBRARY URL QUEUE
                                    moves the jobs that wait in QUEUE of redisson, bullmq or a
                                    sorted-set at that Redis to a scheduler; or those of a task of
                                    db-scheduler, quartz, xxl-job or jobrunr in the database at
                                    that URL of JDBC, whose password may be in the variable
                                    PUNCTUAL_IMPORT_PASSWORD; takes
          --application=NAME        the application that the jobs are for
          --task-type=NAME          their task type
          --scheduler=URL           where to send them (default: http://localhost:8080); the
                                    application's token is read from PUNCTUAL_TOKEN
          --base64                  payloads are bytes, and become text as Base64
          --seconds                 scores of the sorted set are seconds; else they are ms
          --table=NAME              another name of db-scheduler's table, or another begin of the
                                    names of the tables of quartz (QRTZ_), xxl-job (xxl_job_) and
                                    jobrunr (jobrunr_)
          --zone=ZONE               time zone of XXL-JOB's admin (default: that of this machine)
          --dry-run                 says what would be moved, and changes nothing
      """;

  private static final int MIN_PASSWORD = 12;
  private static final String FILE = "--file=";

  private final InputStream in;
  private final PrintStream out;
  private final PrintStream err;

  /** Reads and writes there. */
  public Commands(InputStream in, PrintStream out, PrintStream err) {
    this.in = in;
    this.out = out;
    this.err = err;
  }

  /** Whether these arguments are a command: the scheduler itself takes options only. */
  public static boolean areMeant(String... args) {
    return args.length > 0 && !args[0].startsWith("-");
  }

  /**
   * Runs a command.
   *
   * @return 0 if it worked, 2 if it was not understood, else 1
   */
  public int run(String... args) {
    if (args[0].equals(RedisCheckCommand.NAME)) {
      return new RedisCheckCommand(System::getenv, out, err)
          .run(Arrays.asList(args).subList(1, args.length));
    }
    if (args[0].equals(ImportCommand.NAME)) {
      return new ImportCommand(System::getenv, out, err)
          .run(Arrays.asList(args).subList(1, args.length));
    }
    List<String> words = Arrays.stream(args).filter(arg -> !arg.startsWith("--")).toList();
    String[] options =
        Arrays.stream(args).filter(arg -> arg.startsWith("--")).toArray(String[]::new);
    String given = words.size() == 2 ? words.get(1) : "";
    try {
      return switch (words.get(0) + " " + words.size()) {
        case "signing-key 1" -> say(random());
        case "password 1" -> password();
        case "credentials 2" ->
            withTokens(options, (tokens, keys) -> credentials(given, options, tokens, keys));
        case "tokens 1" -> withTokens(options, (tokens, keys) -> list(tokens));
        case "revoke 2" -> withTokens(options, (tokens, keys) -> revoke(given, tokens));
        case "help 1" -> say(USAGE.strip());
        default -> complain(misunderstood(words) + "\n" + USAGE.strip(), 2);
      };
    } catch (IllegalArgumentException | IllegalStateException e) {
      return complain(String.valueOf(e.getMessage()), 1);
    } catch (DataAccessException e) {
      return complain("Redis did not answer: " + e.getMessage(), 1);
    } catch (IOException e) {
      return complain("standard input could not be read: " + e.getMessage(), 1);
    }
  }

  private static String misunderstood(List<String> words) {
    String command = words.get(0);
    return USAGE.lines().anyMatch(line -> line.strip().startsWith(command + " "))
        ? "these are no arguments of the command " + command + ":"
        : "there is no command '" + Printable.of(command) + "':";
  }

  private int say(String text) {
    out.println(text);
    return 0;
  }

  private int complain(String text, int result) {
    err.println(text);
    return result;
  }

  private static String random() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  // There is none where input or output go to a file, whatever newer versions may say.
  @SuppressWarnings("SystemConsoleNull")
  private int password() throws IOException {
    Console console = System.console();
    String password;
    if (console != null && console.isTerminal()) {
      password = String.valueOf(console.readPassword("Password: "));
    } else {
      BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      password = String.valueOf(reader.readLine());
    }
    if (password.length() < MIN_PASSWORD) {
      return complain("the password must have " + MIN_PASSWORD + " characters or more", 1);
    }
    return say(PasswordEncoderFactories.createDelegatingPasswordEncoder().encode(password));
  }

  private int credentials(
      String application, String[] options, ApplicationTokens tokens, SecurityProperties keys) {
    Limits.requireName("application", application);
    Path file =
        Arrays.stream(options)
            .filter(option -> option.startsWith(FILE))
            .map(option -> Path.of(option.substring(FILE.length())))
            .findFirst()
            .orElse(null);
    if (file != null && Files.exists(file)) {
      // A shell makes an empty file for a command that then fails.
      if (file.toFile().length() == 0) {
        return complain(file + " is there already, and is empty. Remove it, and try again", 1);
      }
      return say(file + " is there already, and stays as it is");
    }
    if (file == null) {
      out.print(lines(application, tokens, keys));
      out.flush();
    } else {
      write(file, () -> lines(application, tokens, keys));
    }
    List<CallbackSignature.Key> secrets = keys.keysOf(application);
    return secrets.isEmpty()
        ? complain("punctual.security.signing-keys is not set: there are no callback keys", 0)
        : 0;
  }

  private static String lines(
      String application, ApplicationTokens tokens, SecurityProperties keys) {
    StringBuilder lines = new StringBuilder("punctual.token=" + tokens.create(application) + "\n");
    List<CallbackSignature.Key> secrets = keys.keysOf(application);
    for (int i = 0; i < secrets.size(); i++) {
      lines.append("punctual.callback.secrets[" + i + "]=" + secrets.get(i).reveal() + "\n");
    }
    return lines.toString();
  }

  // The file first: else a token could live on that no one has.
  private static void write(Path file, Supplier<String> lines) {
    try {
      // With its final permissions from the start.
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      boolean written = false;
      try {
        Files.writeString(file, lines.get());
        written = true;
      } finally {
        if (!written) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(file + " could not be written: " + e, e);
    }
  }

  private int list(ApplicationTokens tokens) {
    tokens
        .all()
        .forEach(
            token -> out.println(token.id() + "  " + token.application() + "  " + token.created()));
    return 0;
  }

  private int revoke(String id, ApplicationTokens tokens) {
    return tokens.revoke(id)
        ? say("revoked; schedulers know within " + ApplicationTokens.TRUST.toSeconds() + " s")
        : complain("there is no token " + id + "; the command tokens lists them", 1);
  }

  @FunctionalInterface
  private interface Work {
    int run(ApplicationTokens tokens, SecurityProperties properties);
  }

  private static int withTokens(String[] options, Work work) {
    SpringApplication application =
        new SpringApplicationBuilder(OnlyRedis.class)
            .web(WebApplicationType.NONE)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            .properties("spring.cloud.discovery.enabled=false")
            .build();
    // Keeps the log of the program that runs the command.
    application.setListeners(
        application.getListeners().stream()
            .filter(
                listener ->
                    !(listener instanceof LoggingApplicationListener)
                        && !(listener instanceof LoggingSystemShutdownListener))
            .toList());
    try (ConfigurableApplicationContext context = application.run(options)) {
      ApplicationTokens tokens =
          new ApplicationTokens(
              context.getBean(StringRedisTemplate.class),
              context.getEnvironment().getProperty(ApplicationTokens.KEY_PREFIX, "punctual"),
              System::nanoTime,
              InstantSource.system());
      return work.run(tokens, context.getBean(SecurityProperties.class));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(DataRedisAutoConfiguration.class)
  @EnableConfigurationProperties(SecurityProperties.class)
  static class OnlyRedis {}
}
