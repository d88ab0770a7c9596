package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.SharedRedisTestBase;
import io.punctual.test.browser.Browser;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes the pictures of the documentation: the console over a system that is at work. No part of
 * the tests, since it takes minutes; CONTRIBUTING.md has its command.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      SharedRedisTestBase.ALONE + "=ConsolePictures",
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.dispatch.allowed-networks=127.0.0.0/8",
      "punctual.security.signing-keys=" + ConsoleTestBase.KEY,
      "punctual.security.operators.bea.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.bea.role=admin"
    })
class ConsolePictures extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final List<String> TYPES =
      List.of(
          "shop/order.close",
          "shop/order.remind",
          "payment/notify.partner",
          "mail/send.newsletter",
          "billing/invoice.retry");
  private static final List<String> ERRORS =
      List.of(
          "java.lang.IllegalStateException: order is not known to the warehouse",
          "shop.mail.UnknownCustomerException: no customer has the number of this order",
          "java.net.http.HttpTimeoutException: request timed out: partner.example/notify",
          "jakarta.mail.SendFailedException: 550 5.1.1 mailbox unavailable",
          "java.sql.SQLIntegrityConstraintViolationException: Duplicate entry for key 'invoice'");
  private static final HoldingWorker WORKER = new HoldingWorker("shop", ConsoleTestBase.KEY);

  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicBoolean over = new AtomicBoolean();

  @DynamicPropertySource
  static void workers(DynamicPropertyRegistry registry) {
    String instances = "spring.cloud.discovery.client.simple.instances.shop";
    registry.add(instances + "[0].uri", WORKER::uri);
    registry.add(instances + "[0].instance-id", () -> "shop-7d9f:8081");
    registry.add(instances + "[0].metadata[punctual.task-types]", () -> "order.hold");
    registry.add(instances + "[0].metadata[punctual.protocol]", () -> "batch");
    registry.add(instances + "[0].metadata[punctual.concurrency]", () -> "64");
    // Nobody listens there.
    registry.add(instances + "[1].uri", () -> "http://127.0.0.1:9");
    registry.add(instances + "[1].instance-id", () -> "shop-c41a:8081");
    registry.add(instances + "[1].metadata[punctual.task-types]", () -> "order.hold");
    registry.add(instances + "[1].metadata[punctual.protocol]", () -> "batch");
  }

  @Test
  void areTaken() {
    var threads = Executors.newScheduledThreadPool(1);
    try (var pullers = Executors.newVirtualThreadPerTaskExecutor();
        Browser browser = new Browser("http://localhost:" + port, "console")) {
      Random random = new Random(4711);
      for (int i = 0; i < 2_000; i++) {
        // More of them soon than late, as it is where most delays are short.
        long minutes = (long) (60 * 24 * 7 * Math.pow(random.nextDouble(), 4));
        submit(random, minutes * 60_000 + random.nextInt(60_000) + 180_000);
      }
      TYPES.forEach(queue -> pullers.execute(() -> pull(queue, new Random(queue.hashCode()))));
      var unused =
          threads.scheduleAtFixedRate(
              () -> submit(random, 500 + random.nextInt(3_000)), 0, 40, TimeUnit.MILLISECONDS);
      tell(
          "/api/v1/jobs",
          job("shop", "order.hold", "order-1007", 0, "{\"order\":1007,\"until\":\"paid\"}"));
      try {
        ConsoleTestBase.logIn(browser, "bea");
        operate(browser);
        Awaitility.await().atMost(Duration.ofMinutes(4)).until(() -> sent.get() > 4_500);
        String dead =
            call(
                    "GET",
                    "/api/v1/jobs?application=shop&taskType=order.close&state=dead&limit=1",
                    null)
                .at("/items/0/taskId")
                .asString();
        browser.open("/console/operations").click("main tbody th a");
        browser.until(() -> browser.path().startsWith("/console/operations/"));
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("overview", "/console?range=15m");
        pages.put("queues", "/console/queues");
        pages.put("queue", "/console/queues/shop/order.close");
        pages.put("jobs", "/console/jobs?q=app:shop+state:delayed");
        pages.put("job", "/console/jobs/shop/order.close/" + dead);
        pages.put("dead", "/console/dead");
        pages.put("schedules", "/console/schedules");
        pages.put("schedule", "/console/schedules/billing/invoice.retry/nightly");
        pages.put("workers", "/console/workers");
        pages.put("doctor", "/console/doctor");
        pages.put("operations", "/console/operations");
        pages.put("operation", browser.path());
        pages.put("audit", "/console/audit");
        pages.forEach((name, page) -> take(browser, name, page));
        browser.click("form[action$='/logout'] button");
        browser.until(() -> browser.path().startsWith("/console/login"));
        take(browser, "login", "/console/login");
      } finally {
        over.set(true);
        threads.shutdownNow();
      }
    }
    assertThat(sent).hasPositiveValue();
  }

  private static void take(Browser browser, String name, String page) {
    browser.size(1440, 900).open(page);
    for (String colours : new String[] {"light", "dark"}) {
      browser.size(1440, 900).colours(colours).compressedPicture(name + "-" + colours);
      browser.size(390, 844).compressedPicture(name + "-phone-" + colours);
    }
  }

  /** What operators and other applications did before. */
  private void operate(Browser browser) {
    for (String schedule :
        List.of(
            "shop/order.remind/evening 0 18 * * MON-FRI",
            "billing/invoice.retry/nightly 30 2 * * *",
            "mail/send.newsletter/weekly 0 9 * * MON")) {
      String[] parts = schedule.split(" ", 2);
      call(
          "PUT",
          "/api/v1/schedules/" + parts[0],
          JSON.createObjectNode().put("cron", parts[1]).put("zone", "Europe/Berlin"));
    }
    call(
        "POST",
        "/api/v1/queues/payment/notify.partner/pause",
        JSON.createObjectNode().put("reason", "partner is down").put("for", "30m"));
    call("POST", "/api/v1/queues/payment/notify.partner/resume", JSON.createObjectNode());
    Awaitility.await()
        .atMost(Duration.ofMinutes(2))
        .until(
            () ->
                call(
                            "GET",
                            "/api/v1/jobs?application=mail&taskType=send.newsletter&state=dead",
                            null)
                        .at("/items")
                        .size()
                    > 0);
    browser.size(1440, 900).open("/console/jobs?q=app:mail+state:dead");
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)");
    browser.click("form[action$='/bulk'] button");
    browser.until(() -> !browser.all("form[action$='/begin']").isEmpty());
    browser.click("form[action$='/begin'] button");
    browser.until(() -> browser.path().startsWith("/console/operations/"));
  }

  private void submit(Random random, long delay) {
    int number = 10_000 + sent.incrementAndGet();
    String[] queue = TYPES.get(random.nextInt(TYPES.size())).split("/", -1);
    String params =
        "{\"order\":%d,\"customer\":\"c-%d\",\"lines\":[{\"sku\":\"A-%d\",\"count\":%d}]}"
            .formatted(number, random.nextInt(900), random.nextInt(90), 1 + random.nextInt(5));
    tell("/api/v1/jobs", job(queue[0], queue[1], "order-" + number, delay, params));
  }

  private static ObjectNode job(
      String application, String taskType, String taskId, long delay, String params) {
    return JSON.createObjectNode()
        .put("application", application)
        .put("taskType", taskType)
        .put("taskId", taskId)
        .put("delay", delay)
        .put("params", params)
        .put("retry", "1s,5s;attempts=3");
  }

  /** Works on what is due until all is over; what is bad always fails, and is dead in the end. */
  private void pull(String queue, Random random) {
    String[] names = queue.split("/", -1);
    ObjectNode ask = JSON.createObjectNode();
    ask.put("application", names[0]).put("worker", names[0] + "-1");
    ask.put("wait", 1_000).put("max", 50);
    ask.putArray("taskTypes").add(names[1]);
    while (!over.get()) {
      for (JsonNode job : call("POST", "/api/v1/claims", ask).at("/jobs")) {
        String claim = "/api/v1/claims/" + job.at("/token").asString();
        boolean bad = job.at("/taskId").asString().hashCode() % 97 == 0;
        if (bad || random.nextInt(60) == 0) {
          String error =
              bad
                  ? ERRORS.get(TYPES.indexOf(queue))
                  : "java.net.SocketTimeoutException: Read timed out after 3000 ms";
          tell(claim + "/nack", JSON.createObjectNode().put("error", error));
        } else {
          tell(claim + "/ack", JSON.createObjectNode());
        }
      }
    }
  }

  private void tell(String path, ObjectNode body) {
    var unused = call("POST", path, body);
  }

  private JsonNode call(String method, String path, @Nullable ObjectNode body) {
    return api.call(method, path, body == null ? "" : body.toString(), ConsoleTestBase.ADMIN)
        .body();
  }
}
