package io.punctual.server.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.server.PunctualServerApplication;
import io.punctual.test.redis.RedisCluster;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Real servers are checked, with all rights and with those that docs/redis.acl gives. */
@Isolated("it sets a property of the JVM, and measures times")
class RedisCheckIT {

  private static final String BINARY = "punctual.redis.binary";
  private static final String PASSWORD = "s3cret-0815";
  private static final RedisServer REDIS = RedisServer.startTemporary();

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  /** What a run printed and returned. */
  private record Run(int result, String out, String err, List<String> called) {}

  private static Run check(Map<String, String> environment, String suffix, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    RedisCheckCommand command =
        new RedisCheckCommand(environment::get, printing(out), printing(err), suffix);
    int result = command.run(List.of(arguments));
    Run run =
        new Run(
            result,
            out.toString(StandardCharsets.UTF_8),
            err.toString(StandardCharsets.UTF_8),
            command.called());
    assertThat(run.out() + run.err()).doesNotContain(PASSWORD);
    return run;
  }

  private static Run check(String... arguments) {
    return check(Map.of(), "0123abcd", arguments);
  }

  private static PrintStream printing(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private static void assertWorks(Run run) {
    assertThat(run.result()).as(run.out() + run.err()).isZero();
    assertThat(run.out())
        .contains("claim at the due time", "schedules", "removed, none is left")
        .contains("All checks passed.")
        .doesNotContain("FAIL");
  }

  private static void assertEmpty(int port) throws IOException {
    assertThat(Resp.call(port, "DBSIZE")).as("keys at " + port).isEqualTo("0");
  }

  private static String url(int port) {
    return "redis://127.0.0.1:" + port;
  }

  private static String restricted(int port) {
    return "redis://punctual:" + PASSWORD + "@127.0.0.1:" + port;
  }

  private static List<String> words(String file) throws IOException {
    return List.of(Files.readString(Path.of("../docs/" + file)).strip().split(" "));
  }

  /** Makes the user of a file of docs, with a password and further rules. */
  private static void setUser(int port, String file, String... further) throws IOException {
    List<String> user = new ArrayList<>(List.of("ACL", "SETUSER", "punctual", "reset"));
    user.addAll(words(file).subList(2, words(file).size()));
    user.add(">" + PASSWORD);
    user.addAll(Arrays.asList(further));
    Resp.call(port, user.toArray(String[]::new));
  }

  /** The results and names of the checks, as they are printed. */
  private static List<String> checks(String text) {
    return Pattern.compile("(?m)^  (?:ok|note|FAIL)  +\\S+(?: \\S+)*")
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .toList();
  }

  private static Set<String> allowed(String file) throws IOException {
    Set<String> allowed = new TreeSet<>();
    words(file).stream()
        .filter(word -> word.startsWith("+") && !word.equals("+asking"))
        .forEach(word -> allowed.add(word.substring(1)));
    return allowed;
  }

  private static Set<String> tried(Run run) {
    Set<String> tried = new TreeSet<>();
    run.called().forEach(command -> tried.add(command.toLowerCase(Locale.ROOT)));
    return tried;
  }

  @Test
  void aRedisWithTheRightsOfTheDocsWorksAndEachOfTheseCommandsIsTried() throws IOException {
    setUser(REDIS.port(), "redis.acl");
    Run run = check(restricted(REDIS.port()));
    assertWorks(run);
    assertThat(run.out()).contains("standalone, at redis://punctual@127.0.0.1:");
    assertThat(run.out()).contains("note  CONFIG GET");
    assertThat(tried(run)).isEqualTo(allowed("redis.acl"));
    assertEmpty(REDIS.port());
    String page = Files.readString(Path.of("../docs/redis.md"));
    List<String> shown = checks(page.substring(page.indexOf("## Check a server")));
    assertThat(shown).hasSizeGreaterThan(25);
    assertThat(checks(run.out().replaceAll("127.0.0.1:\\d+", "redis-1:6379"))).isEqualTo(shown);
  }

  @Test
  void aCommandThatIsNotAllowedIsNamed() throws IOException {
    setUser(REDIS.port(), "redis.acl", "-zmscore");
    Run run =
        check(
            Map.of(
                "SPRING_DATA_REDIS_USERNAME", "punctual", "SPRING_DATA_REDIS_PASSWORD", PASSWORD),
            "0123abcd",
            url(REDIS.port()));
    assertThat(run.result()).isEqualTo(1);
    assertThat(run.out())
        .contains("FAIL  ZMSCORE", "+zmscore")
        .contains("not tried: they need what failed above", "removed, none is left");
    assertEmpty(REDIS.port());
  }

  @Test
  void whereKeysCannotBeRemovedNoneIsMade() throws IOException {
    setUser(REDIS.port(), "redis.acl", "-pexpire");
    Run run = check(restricted(REDIS.port()));
    assertThat(run.result()).isEqualTo(1);
    assertThat(run.out()).contains("FAIL  PEXPIRE").doesNotContain("Clean-up");
    assertEmpty(REDIS.port());
  }

  @Test
  void keysThatAreThereStayAndEndTheCheck() throws IOException {
    String key = "other:check-0123abcd:queues";
    Resp.call(REDIS.port(), "HSET", key, "a", "b");
    try {
      Run run = check(url(REDIS.port()), "--key-prefix=other");
      assertThat(run.result()).isEqualTo(2);
      assertThat(run.err()).contains("There are keys that begin with other:check-0123abcd");
      assertThat(Resp.call(REDIS.port(), "HGET", key, "a")).isEqualTo("b");
    } finally {
      Resp.call(REDIS.port(), "DEL", key);
    }
    assertEmpty(REDIS.port());
  }

  @Test
  void aPolicyThatRemovesJobsIsAFailure() throws IOException {
    Resp.call(REDIS.port(), "CONFIG", "SET", "maxmemory", "100mb");
    Resp.call(REDIS.port(), "CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    try {
      Run run = check(url(REDIS.port()));
      assertThat(run.result()).isEqualTo(1);
      assertThat(run.out().replaceAll("\\s+", " "))
          .contains("set maxmemory-policy noeviction", "submit, find");
    } finally {
      Resp.call(REDIS.port(), "CONFIG", "SET", "maxmemory-policy", "noeviction");
      Resp.call(REDIS.port(), "CONFIG", "SET", "maxmemory", "0");
    }
  }

  @Test
  void redis62WorksAndNamesWhatItRefuses() throws IOException {
    String before = System.getProperty(BINARY);
    System.setProperty(BINARY, "embedded");
    try (RedisServer redis = RedisServer.startTemporary()) {
      setUser(redis.port(), "redis.acl");
      Run run = check(restricted(redis.port()));
      assertWorks(run);
      assertThat(run.out()).contains("Redis 6.2.");
      assertEmpty(redis.port());
      setUser(redis.port(), "redis.acl", "-zmscore");
      run = check(restricted(redis.port()));
      assertThat(run.result()).isEqualTo(1);
      assertThat(run.out()).contains("FAIL  ZMSCORE", "+zmscore");
    } finally {
      if (before == null) {
        System.clearProperty(BINARY);
      } else {
        System.setProperty(BINARY, before);
      }
    }
  }

  @Test
  void aClusterIsFoundOut() throws IOException {
    try (RedisCluster cluster = RedisCluster.start()) {
      for (int port : cluster.ports()) {
        setUser(port, "redis-cluster.acl");
      }
      Run run = check(restricted(cluster.ports().get(0)));
      assertWorks(run);
      assertThat(run.out()).contains(", cluster, at redis://punctual@127.0.0.1:");
      assertThat(tried(run)).isEqualTo(allowed("redis-cluster.acl"));
      for (int port : cluster.ports()) {
        assertEmpty(port);
      }
    }
  }

  @Test
  void whatIsNoClusterIsNone() {
    Run run = check(url(REDIS.port()), "--cluster");
    assertThat(run.result()).isEqualTo(2);
    assertThat(run.err()).contains("cannot be used", "is a node of a cluster");
  }

  @Test
  void aWrongPasswordIsSaid() throws IOException {
    setUser(REDIS.port(), "redis.acl");
    Run run = check("redis://punctual:wr0ng-pass@127.0.0.1:" + REDIS.port());
    assertThat(run.result()).isEqualTo(2);
    assertThat(run.err()).contains("refuses the login").doesNotContain("wr0ng-pass");
  }

  @Test
  void aServerThatIsNotThereIsSaid() {
    Run run = check("redis://:" + PASSWORD + "@127.0.0.1:" + Ports.free());
    assertThat(run.result()).isEqualTo(2);
    assertThat(run.err())
        .contains("cannot be used: ", "refused. Correct")
        .doesNotContain("Exception");
  }

  @Test
  void wrongCommandsAreSaid() {
    assertThat(check(url(REDIS.port()) + "/99").result()).isEqualTo(2);
    assertThat(check().err()).contains("needs one URL, and got 0");
    assertThat(check("redis://a", "--all").err()).contains("no option --all");
    assertThat(check("redis://my_redis:6379").err()).contains("has an underscore");
    for (String url :
        List.of(
            "http://a",
            "redis://u:" + PASSWORD + "#@a",
            "redis://u:" + PASSWORD + "%@a",
            "redis://a/x",
            "redis://a:99999",
            "redis://app_user:p@" + PASSWORD + "@a",
            "redis://" + PASSWORD + "@a")) {
      Run run = check(url);
      assertThat(run.result()).isEqualTo(2);
      assertThat(run.err()).contains("The URL must be redis://");
    }
  }

  @Test
  void aProgramThatIsToldToEndRemovesItsKeysFirst() throws Exception {
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                PunctualServerApplication.class.getName(),
                RedisCheckCommand.NAME,
                url(REDIS.port()))
            .redirectErrorStream(true)
            .start();
    StringBuilder out = new StringBuilder();
    try (BufferedReader lines = program.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        out.append(line).append('\n');
        if (line.contains("claim at the due time")) {
          // Process.destroy would close what is read here.
          program.toHandle().destroy();
        }
      }
    }
    assertThat(program.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(program.exitValue()).isEqualTo(143);
    assertThat(out.toString()).contains("removed, none is left", "Interrupted.");
    assertThat(out.toString()).doesNotContain("limits", "FAIL");
    assertEmpty(REDIS.port());
  }
}
