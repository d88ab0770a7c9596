package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.browser.Browser;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The console in Chromium. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class BrowserTestBase extends ConsoleTestBase {

  static final JsonMapper JSON = new JsonMapper();

  Browser browser;
  private String who = "";

  @BeforeAll
  void start() {
    browser = new Browser("http://localhost:" + port, "console");
  }

  @AfterAll
  void quit() {
    browser.close();
  }

  /** That operator, at a page of the console. */
  Browser as(String name) {
    browser.width(1280).colours("light");
    browser.open("/console/login");
    if (name.equals(who)) {
      return browser;
    }
    who = name;
    if (!browser.path().equals("/console/login")) {
      browser.click("form[action='/console/logout'] button");
      browser.until(() -> browser.path().equals("/console/login"));
    }
    return logIn(browser, name);
  }

  static String fresh() {
    return "b-" + UUID.randomUUID();
  }

  /** A job that dies of an error of that text. */
  void die(String taskType, String taskId, String params, String error) {
    ObjectNode job = JSON.createObjectNode();
    job.put("application", "shop").put("taskType", taskType).put("taskId", taskId);
    job.put("delay", 0).put("params", params).put("retry", "never");
    assertThat(call("POST", "/api/v1/jobs", job.toString())).isIn(200, 201);
    JsonNode claimed =
        post(
            "/api/v1/claims",
            "{\"application\":\"shop\",\"taskTypes\":[\"%s\"],\"wait\":10000}".formatted(taskType));
    ObjectNode end = JSON.createObjectNode();
    end.put("error", error);
    JsonNode unused =
        post("/api/v1/claims/" + claimed.at("/jobs/0/token").asString() + "/nack", end.toString());
    Awaitility.await()
        .until(
            () ->
                api.call("GET", "/api/v1/jobs/shop/" + taskType + "/" + taskId, "", ADMIN)
                    .body()
                    .at("/state")
                    .asString()
                    .equals("dead"));
  }

  JsonNode post(String path, String json) {
    return api.call("POST", path, json, ADMIN).body();
  }
}
