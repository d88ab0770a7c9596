package io.punctual.server.console;

import io.punctual.server.SharedRedisTestBase;
import io.punctual.server.security.Role;
import io.punctual.test.browser.Browser;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** A scheduler with a viewer, an operator and an admin, and its console. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.dispatch.allowed-networks=127.0.0.0/8",
      "punctual.security.signing-keys=" + ConsoleTestBase.KEY,
      "punctual.security.operators.vera.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.vera.role=viewer",
      "punctual.security.operators.otto.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.otto.role=operator",
      "punctual.security.operators.bea.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.bea.role=admin"
    })
abstract class ConsoleTestBase extends SharedRedisTestBase {

  static final String KEY = "Vb8s0qKfT2mYc1xN7wLhR4zJ6pD9gE3uAo5iS0kQ";
  static final String PASSWORD = "correct horse battery";
  // With few rounds, since it is asked for often here.
  static final String HASH = "{bcrypt}$2a$04$vtWr23JHb1SyCtcvd1rAwOoEjbRrBRCjIXusEoEJqV9LWyADVHB12";
  static final Map<Role, String> OPERATORS =
      Map.of(Role.VIEWER, "vera", Role.OPERATOR, "otto", Role.ADMIN, "bea");

  static final String STRANGE =
      "\"><script>alert(1)</script>\n2026-01-01T00:00:00Z INFO punctual.audit : bea did purge";

  /** Has the jobs of shop/held, as long as there are tests. */
  private static final HoldingWorker HOLDING = new HoldingWorker("shop", KEY);

  static Browser logIn(Browser browser, String name) {
    browser.open("/console/login");
    browser.type("input[name=username]", name);
    browser.type("input[name=password]", PASSWORD);
    browser.click("main form button");
    browser.until(() -> browser.path().equals("/console"));
    return browser;
  }

  @DynamicPropertySource
  static void workers(DynamicPropertyRegistry registry) {
    String instances = "spring.cloud.discovery.client.simple.instances.shop";
    // Nobody listens there.
    registry.add(instances + "[0].uri", () -> "http://127.0.0.1:9");
    registry.add(instances + "[0].instance-id", () -> "shop-gone");
    registry.add(instances + "[0].metadata[punctual.task-types]", () -> "gone");
    registry.add(instances + "[1].uri", HOLDING::uri);
    registry.add(instances + "[1].instance-id", () -> "shop-holding");
    registry.add(instances + "[1].metadata[punctual.task-types]", () -> "held");
    registry.add(instances + "[1].metadata[punctual.protocol]", () -> "batch");
    registry.add(instances + "[1].metadata[punctual.concurrency]", () -> "7");
    // Whoever gets into the registry says what it likes there.
    registry.add(instances + "[2].host", () -> STRANGE);
    registry.add(instances + "[2].port", () -> "80");
    registry.add(instances + "[2].instance-id", () -> "shop-strange");
    registry.add(instances + "[2].metadata[punctual.task-types]", () -> "strange");
    registry.add(instances + "[3].uri", () -> "http://127.0.0.1:9");
    registry.add(instances + "[3].instance-id", () -> "shop-turned");
    registry.add(instances + "[3].metadata[punctual.task-types]", () -> "a\u202Eb\u2066");
    String schedulers = "spring.cloud.discovery.client.simple.instances.punctual-scheduler";
    registry.add(schedulers + "[0].host", () -> STRANGE);
    registry.add(schedulers + "[0].port", () -> "80");
    registry.add(schedulers + "[0].instance-id", () -> "strange\u200b");
    registry.add(schedulers + "[1].uri", () -> "http://127.0.0.1:8080");
    registry.add(schedulers + "[1].instance-id", () -> "scheduler-1");
  }

  /** The admin, to the API. */
  static final String ADMIN =
      "Basic "
          + Base64.getEncoder()
              .encodeToString(("bea:" + PASSWORD).getBytes(StandardCharsets.UTF_8));

  /** A call of the API by the admin; its answer's status. */
  int call(String method, String path, String json) {
    return api.call(method, path, json, ADMIN).status();
  }

  /** A job of the queue shop/... */
  void submit(String taskType, String taskId, String delay, String more) {
    int status =
        call(
            "POST",
            "/api/v1/jobs",
            "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"%s\"%s}"
                .formatted(taskType, taskId, delay, more));
    if (status != 201) {
      throw new IllegalStateException("the job was answered with " + status);
    }
  }
}
