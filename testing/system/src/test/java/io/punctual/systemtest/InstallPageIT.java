package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Does what docs/install.md says, in a shell and in this order. Only hosts, ports and directories
 * are other ones. The Redis has the user of docs/redis.acl; the Eureka has a password, and Eureka's
 * own defaults.
 */
@Tag("full")
class InstallPageIT {

  private static final JsonMapper JSON = new JsonMapper();
  private static final long PATIENCE_S = 120;
  private static final String VERSION = System.getProperty("punctual.version", "0.1.0-SNAPSHOT");
  private static final String REDIS_PASSWORD = "redis-4d1c8e07";
  private static final String REGISTRY_PASSWORD = "3b1e9f60c27d84aa";
  private static final String ALICE_PASSWORD = "alice-77e0b2c5";

  private static Path machine;
  private static RedisServer redis;
  private static JavaProcess registry;

  @BeforeAll
  static void start() throws Exception {
    machine = Files.createDirectories(DIRECTORY.resolve("install").toAbsolutePath());
    Files.copy(archive(), machine.resolve(archive().getFileName()));
    Path users = Files.createFile(machine.resolve("users.acl"));
    redis =
        RedisServer.startTemporary(
            "--maxmemory-policy", "noeviction", "--aclfile", users.toString());
    makeUser(users);
    registry =
        PROGRAMS
            .program(
                "eureka-registry",
                "--punctual.registry.password=" + REGISTRY_PASSWORD,
                "--eureka.server.use-read-only-response-cache=true",
                "--eureka.server.eviction-interval-timer-in-ms=60000",
                "--eureka.server.expected-client-renewal-interval-seconds=30",
                "--eureka.server.enable-self-preservation=true")
            .start()
            .awaitReady();
  }

  /** As docs/redis.md does it, by both ways. */
  private static void makeUser(Path users) throws Exception {
    List<String> commands =
        MarkdownPage.of("docs/redis.md").blocks("A user of Redis for Punctual", "bash");
    String client = "redis-cli() { command redis-cli -e -p %d \"$@\"; }\n".formatted(redis.port());
    String made =
        commands.get(0).replace("password=$(openssl rand -hex 32)", "password=$REDIS_PASSWORD");
    assertThat(made).isNotEqualTo(commands.get(0));
    shell(root(), client + made);
    String saved = Files.readString(users);
    assertThat(saved).contains("user punctual on ");

    String line = shell(root(), "password=$REDIS_PASSWORD\n" + commands.get(1));
    Files.writeString(users, "user default on nopass ~* &* +@all\n" + line);
    shell(root(), client + "redis-cli ACL LOAD; redis-cli ACL SAVE");
    assertThat(Files.readString(users)).isEqualTo(saved);
  }

  @AfterAll
  static void stop() {
    registry.close();
    redis.close();
  }

  private static Path root() {
    return ModuleDirectory.root();
  }

  private static Path archive() {
    return root().resolve("scheduler-server/target/scheduler-server-" + VERSION + ".tar.gz");
  }

  private static Path folder() {
    return machine.resolve("scheduler-server-" + VERSION);
  }

  @Test
  void fromTheArchiveToTheFirstJob() throws Exception {
    MarkdownPage page = MarkdownPage.of("docs/install.md");
    int first = Ports.free();
    int second = Ports.free();
    Map<String, String> places = new LinkedHashMap<>();
    places.put("scheduler-1.example:8080", "127.0.0.1:" + first);
    places.put("scheduler-1.example", "127.0.0.1");
    places.put("scheduler-2.example", "127.0.0.1");
    places.put("registry.example:8761", registry.url().substring("http://".length()));
    places.put("redis.example", "127.0.0.1");
    places.put("10.0.0.0/8", "127.0.0.0/8");
    places.put("6379", Integer.toString(redis.port()));
    places.put("/etc/first-shop", folder().toString());

    List<String> unpack = page.blocks("Install a scheduler", "bash");
    assertThat(shell(machine, unpack.get(0))).contains("signing-key", "credentials APPLICATION");
    shell(folder(), placed(page.blocks("Configure", "bash").get(0), places));
    Path settings = folder().resolve("application.properties");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(settings)))
        .isEqualTo("rw-------");
    assertThat(names(settings))
        .isEqualTo(names(folder().resolve("application.properties.example")));

    List<String> start = page.blocks("Start two instances", "bash");
    try (JavaProcess one = scheduler(first, placed(start.get(0), places)).start();
        JavaProcess two = scheduler(second, placed(start.get(2), places)).start()) {
      one.awaitReady();
      two.awaitReady();
      assertThat(shell(folder(), placed(start.get(1), places))).contains("UP");

      shell(folder(), page.blocks("Admit the first application", "bash").get(0));
      ScratchProject application =
          ScratchProject.of(
              "installed",
              FirstStepsIT.firstApplication(
                  placed(page.blocks("Admit the first application", "properties").get(0), places)));
      application.maven("package");
      int port = Ports.free();
      // It submits at its start, and with Eureka's defaults the registry's answers are half a
      // minute old. Each kind of answer is kept apart: this is the one that clients ask for.
      Waiting.until(
          "the registry shows both schedulers",
          () ->
              say(
                          folder(),
                          "curl -fsS -H 'Accept: application/json' -u punctual:"
                              + REGISTRY_PASSWORD
                              + " "
                              + registry.url()
                              + "/eureka/apps/")
                      .text()
                      .split("\"instanceId\"", -1)
                      .length
                  == 3);
      try (JavaProcess shop =
          process(
                  "installed-shop",
                  port,
                  application.directory(),
                  Map.of(
                      "SERVER_PORT",
                      Integer.toString(port),
                      "EUREKA_INSTANCE_HOSTNAME",
                      "127.0.0.1"),
                  "exec java -jar target/first-shop-1.jar")
              .start()) {
        // With Eureka's defaults both sides see each other half a minute later.
        shop.awaitLog("closing 1001");
        Waiting.until(
            "the scheduler has probed the worker",
            () -> check(page, 2, places).at("/items/0/probe/status").stringValue().equals("ok"));
        assertThat(check(page, 0, places).get("status").stringValue()).isEqualTo("UP");
        assertThat(check(page, 1, places).get("status").stringValue()).isEqualTo("ok");
      }
      String scan = MarkdownPage.of("docs/redis-keys.md").blocks("Keys in Redis", "bash").get(0);
      assertThat(
              shell(
                  machine,
                  scan.replace("redis-cli", "redis-cli -p " + redis.port())
                      .replace("{shop:", "{first-shop:")))
          .isNotBlank();
      upgrade(places, first);
    }
  }

  /** As docs/upgrade.md has it; the restart by systemd is left out. */
  private static void upgrade(Map<String, String> places, int port) throws Exception {
    MarkdownPage page = MarkdownPage.of("docs/upgrade.md");
    Path programs = Files.createDirectories(machine.resolve("opt"));
    Files.createSymbolicLink(programs.resolve("punctual"), folder());
    String commands =
        page.blocks("Upgrade", "bash")
            .get(0)
            .replace("sudo systemctl restart punctual\n", "")
            .replace("sudo ", "")
            .replace("/opt", programs.toString())
            .replace("localhost:8080", "127.0.0.1:" + port);
    assertThat(shell(machine, commands)).contains("UP");
    Path release = programs.resolve(folder().getFileName());
    assertThat(programs.resolve("punctual").toRealPath()).isEqualTo(release);
    assertThat(release.resolve("application.properties"))
        .hasSameTextualContentAs(folder().resolve("application.properties"));
    assertThat(shell(folder(), placed(page.blocks("Check the result", "bash").get(0), places)))
        .contains("checks", "items");
  }

  /** As the page on security has them, in the folder of the archive. */
  @Test
  void theCommandsThatMakeSecretsWorkInTheFolder() throws Exception {
    List<String> blocks = MarkdownPage.of("docs/security.md").blocks("Setting it up", "bash");
    Path folder = Files.createDirectories(machine.resolve("secrets"));
    shell(
        machine,
        "tar -xzf "
            + archive()
            + " -C secrets --strip-components=1 --exclude=application.properties");
    Files.writeString(
        folder.resolve("application.properties"),
        """
        spring.data.redis.port=%d
        spring.data.redis.username=punctual
        spring.data.redis.password=%s
        punctual.security.signing-keys=2hX8vQ4mT9sL6wR3yB7nK1cF5gJ0pDzA
        """
            .formatted(redis.port(), REDIS_PASSWORD));

    for (String command : blocks.get(0).lines().toList()) {
      String said = shell(folder, "echo \"$ALICE_PASSWORD\" | " + command);
      assertThat(said)
          .as(command)
          .containsPattern("(?m)^([A-Za-z0-9_-]{43}|\\{bcrypt}.+|punctual.token=pct_.+)$");
    }

    List<String> tokens = blocks.get(1).lines().toList();
    Matcher id =
        Pattern.compile("(?m)^.*?\\b([0-9a-f]{12})\\b.*order-service")
            .matcher(shell(folder, tokens.get(0)));
    assertThat(id.find()).isTrue();
    shell(folder, tokens.get(1).replace("3f9c2a7d41b0", id.group(1)));
    assertThat(shell(folder, tokens.get(0))).doesNotContain(id.group(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eureka-registry",
        "scheduler-server",
        "demo-order-service",
        "demo-order-plugin",
      })
  void aProgramSaysWhatItMisses(String program) throws Exception {
    Path directory = Files.createDirectories(machine.resolve("alone-" + program));
    String name = program + "-" + VERSION + ".jar";
    Files.copy(
        ModuleDirectory.of(program).resolve("target").resolve(name), directory.resolve(name));

    assertThat(fails(directory, "java -jar " + name))
        .contains(name + " needs its ", "libraries", "are not in " + directory.resolve("lib"))
        .hasLineCount(1);
    String old = ScratchProject.required("punctual.maven.java.home");
    if (!old.equals(System.getProperty("java.home"))) {
      assertThat(fails(directory, old + "/bin/java -jar " + name))
          .contains(name + " needs Java 25 or newer, but " + old + " is Java ")
          .hasLineCount(1);
    }
  }

  /** What a call of the page's last section answers. */
  private static JsonNode check(MarkdownPage page, int line, Map<String, String> places)
      throws IOException, InterruptedException {
    String call = page.blocks("Check that all is well", "bash").get(0).lines().toList().get(line);
    return JSON.readTree(shell(folder(), placed(call, places)));
  }

  private static String placed(String text, Map<String, String> places) {
    String placed = text;
    for (Map.Entry<String, String> place : places.entrySet()) {
      placed = placed.replace(place.getKey(), place.getValue());
    }
    return placed;
  }

  private static Set<String> names(Path properties) throws IOException {
    return Files.readAllLines(properties).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(line -> line.substring(0, line.indexOf('=')))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Map<String, String> environment() {
    String home = System.getProperty("java.home");
    return Map.of(
        "JAVA_HOME",
        home,
        "PATH",
        home + "/bin:" + System.getenv("PATH"),
        "JAVA_OPTS",
        "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "REDIS_PASSWORD",
        REDIS_PASSWORD,
        "REGISTRY_PASSWORD",
        REGISTRY_PASSWORD,
        "ALICE_PASSWORD",
        ALICE_PASSWORD);
  }

  private static JavaProcess scheduler(int port, String block) {
    return process(
        "installed-scheduler",
        port,
        folder(),
        Map.of("SERVER_PORT", Integer.toString(port)),
        block);
  }

  private static JavaProcess process(
      String name, int port, Path directory, Map<String, String> more, String block) {
    Map<String, String> environment = new HashMap<>(environment());
    environment.putAll(more);
    List<String> arguments = new ArrayList<>();
    environment.forEach((key, value) -> arguments.add(key + "=" + value));
    arguments.addAll(List.of("bash", "-euc", block));
    return new JavaProcess(
        name,
        "http",
        port,
        Http.CLIENT,
        DIRECTORY.resolve("logs").resolve(name + "-" + port + ".log"),
        "env",
        directory,
        arguments);
  }

  private record Said(int result, String text) {}

  private static Said say(Path directory, String block) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("bash", "-euo", "pipefail", "-c", block);
    builder.environment().putAll(environment());
    Process process = builder.directory(directory.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
    return new Said(process.exitValue(), text);
  }

  private static String shell(Path directory, String block)
      throws IOException, InterruptedException {
    Said said = say(directory, block);
    assertThat(said.result()).as(block + "\n" + said.text()).isZero();
    return said.text();
  }

  private static String fails(Path directory, String block)
      throws IOException, InterruptedException {
    Said said = say(directory, block);
    assertThat(said.result()).as(said.text()).isEqualTo(1);
    return said.text();
  }
}
