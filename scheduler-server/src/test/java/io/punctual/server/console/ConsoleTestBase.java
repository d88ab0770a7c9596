package io.punctual.server.console;

import io.punctual.server.SharedRedisTestBase;
import io.punctual.server.security.Role;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.springframework.boot.test.context.SpringBootTest;

/** A scheduler with a viewer, an operator and an admin, and its console. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.security.signing-keys=Vb8s0qKfT2mYc1xN7wLhR4zJ6pD9gE3uAo5iS0kQ",
      "punctual.security.operators.vera.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.vera.role=viewer",
      "punctual.security.operators.otto.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.otto.role=operator",
      "punctual.security.operators.bea.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.bea.role=admin",
      // Nobody listens there.
      "spring.cloud.discovery.client.simple.instances.shop[0].uri=http://127.0.0.1:9",
      "spring.cloud.discovery.client.simple.instances.shop[0].instance-id=shop-gone",
      "spring.cloud.discovery.client.simple.instances.shop[0].metadata[punctual.task-types]=gone"
    })
abstract class ConsoleTestBase extends SharedRedisTestBase {

  static final String PASSWORD = "correct horse battery";
  // With few rounds, since it is asked for often here.
  static final String HASH = "{bcrypt}$2a$04$vtWr23JHb1SyCtcvd1rAwOoEjbRrBRCjIXusEoEJqV9LWyADVHB12";
  static final Map<Role, String> OPERATORS =
      Map.of(Role.VIEWER, "vera", Role.OPERATOR, "otto", Role.ADMIN, "bea");

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
