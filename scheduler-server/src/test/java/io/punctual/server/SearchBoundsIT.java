package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.Submit;
import io.punctual.core.store.Submitted;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.console.SearchClock;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobSelection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.JsonNode;

/** No request makes the scheduler call Redis without bound. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=SearchBoundsIT"})
@Import(SearchClock.class)
@Tag("full")
class SearchBoundsIT extends SharedRedisTestBase {

  private static final int QUEUES = 300;
  private static final int BOUND = 200;
  // Of a search in the console: for an id or a tag it goes on until it has found one, and jobs of
  // many queues are put in the order of their times.
  private static final int MOST = 2_000;

  @Autowired private Engine engine;
  @Autowired private BulkOperations bulk;
  @Autowired private SearchClock clock;

  private final String application = "app-" + UUID.randomUUID().toString().substring(0, 8);

  private void submit(List<String> jobs) {
    // Fewer than the connections to Redis: each job may have its own queue.
    for (int from = 0; from < jobs.size(); from += 50) {
      String part = String.join(",", jobs.subList(from, Math.min(jobs.size(), from + 50)));
      Answer answer = api.post("/api/v1/jobs/batch", "{\"jobs\":[" + part + "]}");
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      for (JsonNode result : answer.body().get("results")) {
        assertThat(result.get("status").asInt()).as(result.toString()).isEqualTo(201);
      }
    }
  }

  private String job(String type, String id, String delay) {
    return "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"%s\",\"tags\":[\"t\"]}"
        .formatted(application, type, id, delay);
  }

  private void manyQueues() {
    submit(IntStream.range(0, QUEUES).mapToObj(i -> job("type-" + i, "j" + i, "1h")).toList());
  }

  private void reject(String type) {
    String claim =
        "{\"application\":\"%s\",\"taskTypes\":[\"%s\"],\"max\":200}".formatted(application, type);
    Answer claimed = api.post("/api/v1/claims", claim);
    while (claimed.status() == 200) {
      for (JsonNode job : claimed.body().get("jobs")) {
        String path = "/api/v1/claims/" + job.get("token").asString() + "/reject";
        assertThat(api.post(path, "{\"error\":\"no\"}").status()).isEqualTo(200);
      }
      claimed = api.post("/api/v1/claims", claim);
    }
  }

  /** Calls of the scripts that only read, since the scheduler began. */
  private long calls() {
    return (long)
        api.get("/actuator/prometheus")
            .text()
            .lines()
            .filter(line -> line.startsWith("punctual_store_scripts_seconds_count"))
            .filter(line -> line.matches(".*script=\"(list|tagged|find)\".*"))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .sum();
  }

  private List<String> pages(String query) {
    List<String> ids = new ArrayList<>();
    String cursor = "";
    do {
      long before = calls();
      Answer page = api.get("/api/v1/jobs?application=" + application + query + cursor);
      assertThat(page.status()).as(page.text()).isEqualTo(200);
      assertThat(calls() - before).isBetween(1L, (long) BOUND);
      page.body().get("items").forEach(job -> ids.add(job.get("taskId").asString()));
      cursor = page.at("/nextCursor").isEmpty() ? "" : "&cursor=" + page.at("/nextCursor");
    } while (!cursor.isEmpty());
    return ids;
  }

  @Test
  void aSearchByAnErrorThatNoneHasReadsWholePages() {
    submit(IntStream.range(0, 1_000).mapToObj(i -> job("dies", "j" + i, "0s")).toList());
    reject("dies");
    long before = calls();

    assertThat(pages("&taskType=dies&state=dead&error=another&limit=1")).isEmpty();

    assertThat(calls() - before).isLessThanOrEqualTo(10);
    assertThat(pages("&taskType=dies&state=dead&error=no&limit=300"))
        .hasSize(1_000)
        .doesNotHaveDuplicates();
    before = calls();

    BulkOperation.Preview preview = preview(dead("no"), dead("n"));

    assertThat(preview.matched()).isEqualTo(1_000);
    assertThat(preview.items()).hasSize(50);
    assertThat(preview.more()).isFalse();
    assertThat(calls() - before).isLessThanOrEqualTo(12);
  }

  private JobFilter dead(String error) {
    return new JobFilter(
        application, null, JobFilter.State.DEAD, null, null, null, JobFilter.Failed.with(error));
  }

  private BulkOperation.Preview preview(JobSelection... searches) {
    return bulk.keep(BulkOperation.Action.PURGE, List.of(searches), null, List.of(), "").preview();
  }

  @Test
  void aPreviewOfManySearchesAsksABoundedNumberOfTimes() {
    manyQueues();
    long before = calls();

    BulkOperation.Preview preview =
        preview(IntStream.range(0, 8).mapToObj(i -> dead("e" + i)).toArray(JobSelection[]::new));

    assertThat(calls() - before).isBetween(2_000L, 2_010L);
    assertThat(preview.matched()).isZero();
    assertThat(preview.more()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"&tag=t", "&state=delayed", "&tag=t&state=delayed"})
  void aSearchInManyQueuesGoesOnByItsCursor(String query) {
    manyQueues();

    assertThat(pages(query + "&limit=500"))
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, QUEUES).mapToObj(i -> "j" + i).collect(Collectors.toList()));
    assertThat(pages("&tag=none")).isEmpty();
    assertThat(pages("&state=reserved")).isEmpty();
  }

  private CompletableFuture<Submit> submitDeep(int i) {
    return engine.submit(
        application,
        DelayQueueJob.of("deep")
            .taskId("j" + i)
            .delay(Duration.ofHours(1))
            .tag(i < 300 ? "rare" : "other")
            .build(),
        false);
  }

  /** More jobs of one queue than one page may read, whether by time or by tag. */
  @Test
  void aSearchInOneDeepQueueGoesOnByItsCursor() throws Exception {
    for (int wave = 0; wave < 41; wave++) {
      // No more at once than may wait for the store.
      List<CompletableFuture<Submit>> answers =
          IntStream.range(500 * wave, 500 * (wave + 1)).mapToObj(this::submitDeep).toList();
      for (CompletableFuture<Submit> answer : answers) {
        assertThat(answer.get(60, TimeUnit.SECONDS).kind()).isEqualTo(Submitted.Kind.CREATED);
      }
    }

    assertThat(pages("&taskType=deep&state=delayed&error=none&limit=1")).isEmpty();
    assertThat(pages("&taskType=deep&state=dead&tag=rare&limit=1")).isEmpty();
    assertThat(consolePages("app:" + application + " type:deep state:delayed error:none"))
        .hasSizeGreaterThan(1);
  }

  @Test
  void allDeadLettersOfAnApplicationAreFound() {
    for (String type : new String[] {"a", "b", "c"}) {
      submit(
          IntStream.range(0, 3).mapToObj(i -> job(type, type + i, i < 2 ? "0s" : "1h")).toList());
      reject(type);
    }

    assertThat(pages("&state=dead&limit=1"))
        .containsExactlyInAnyOrder("a0", "a1", "b0", "b1", "c0", "c1");
    assertThat(pages("&state=dead&limit=4&error=no")).hasSize(6);
  }

  /** All pages of the console that a search leads to, each after a bounded number of calls. */
  private List<String> consolePages(String query) throws Exception {
    return consolePages(query, BOUND);
  }

  private List<String> consolePages(String query, long bound) throws Exception {
    List<String> pages = new ArrayList<>();
    String path = "/jobs?q=" + URLEncoder.encode(query, StandardCharsets.UTF_8);
    while (path != null) {
      long before = calls();
      String page = page(path);
      assertThat(calls() - before).as(path).isBetween(1L, bound);
      pages.add(page);
      path =
          page.lines()
              .filter(line -> line.contains("rel=\"next\""))
              .map(line -> line.replaceAll(".*href=\"/console([^\"]+)\".*", "$1"))
              .map(href -> href.replace("&amp;", "&"))
              .findFirst()
              .orElse(null);
    }
    return pages;
  }

  @Test
  void theConsoleGoesOnThroughAllQueuesUntilItHasAnIdOrATag() throws Exception {
    manyQueues();
    submit(List.of(job("type-99", "last", "1h").replace("\"t\"", "\"order:4711\"")));
    String link = "/console/jobs/" + application + "/type-99/";
    String in = "app:" + application + " ";

    for (String query : List.of("id:j99", "j99", "tag:order:4711", "order:4711")) {
      String found = link + (query.contains("j99") ? "j99" : "last");
      assertThat(consolePages(in + query, MOST))
          .first(InstanceOfAssertFactories.STRING)
          .contains(found);
      try {
        clock.goOnBy(Duration.ofSeconds(1));
        // The time of a page is over after its first step.
        List<String> pages = consolePages(in + query, BOUND + 2);
        assertThat(pages).hasSizeGreaterThan(1).filteredOn(page -> page.contains(found)).hasSize(1);
      } finally {
        clock.goOnBy(Duration.ZERO);
      }
    }
    List<String> none = consolePages(in + "order:4712", MOST);
    assertThat(none.get(none.size() - 1)).contains("No job matches");
  }

  @Test
  void theConsoleLooksForAStateInSoManyQueuesAPage() throws Exception {
    manyQueues();

    assertThat(consolePages("app:" + application + " state:delayed error:none", MOST))
        .hasSizeLessThanOrEqualTo(4);
    assertThat(
            consolePages("app:" + application + " state:delayed", MOST).stream()
                .mapToInt(page -> page.split("/console/jobs/" + application, -1).length - 1)
                .sum())
        .isEqualTo(QUEUES);
  }

  /** Queues share due times, also where one page ends and the next one begins. */
  @Test
  void theConsoleListsTheJobsOfAllQueuesByDueTime() throws Exception {
    Instant tonight = Instant.now().plus(Duration.ofHours(5)).truncatedTo(ChronoUnit.SECONDS);
    List<String> jobs = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int second = 0; second < 40; second++) {
      for (String type : List.of("a", "b", "c")) {
        for (String id : List.of("x", "y")) {
          jobs.add(
              job(type, id + second, "0s")
                  .replace(
                      "\"delay\":\"0s\"", "\"dueAt\":\"" + tonight.plusSeconds(second) + "\""));
          expected.add(type + "/" + id + second);
        }
      }
    }
    Collections.shuffle(jobs, new Random(1));
    submit(jobs);
    submit(List.of(job("a", "before", "1h"), job("b", "behind", "9h"), job("d", "alone", "1h")));

    String range = " from:" + tonight + " until:" + tonight.plusSeconds(39);
    assertThat(listed("app:" + application + range)).isEqualTo(expected);
    // As the queues' samples become known.
    List<String> all = new ArrayList<>(List.of("a/before", "d/alone"));
    all.addAll(expected);
    all.add("b/behind");
    Awaitility.await().untilAsserted(() -> assertThat(listed("app:" + application)).isEqualTo(all));
    assertThat(listed("app:" + application + range + " type:b"))
        .isEqualTo(expected.stream().filter(job -> job.startsWith("b/")).toList());
  }

  private List<String> listed(String query) throws Exception {
    Pattern link = Pattern.compile("href=\"/console/jobs/" + application + "/([^/]+/[^/\"?]+)\"");
    return consolePages(query).stream()
        .flatMap(page -> link.matcher(page).results().map(found -> found.group(1)))
        .toList();
  }

  @Test
  void theConsoleLooksAtTheDeadLettersOfSoManyQueues() throws Exception {
    List<String> types = IntStream.range(0, 120).mapToObj(i -> "dead-" + i).toList();
    submit(types.stream().map(type -> job(type, "j", "0s")).toList());
    types.forEach(this::reject);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> page("/dead").contains(application + "/dead-"));
    long before = calls();

    var unused = page("/dead");

    // A page of each of the 50 in which a job died last.
    assertThat(calls() - before).isBetween(50L, 80L);

    // The samples of some queues may be older than their dead letters.
    Awaitility.await()
        .untilAsserted(
            () -> {
              List<String> pages = consolePages("app:" + application + " state:dead");
              assertThat(
                      pages.stream()
                          .mapToInt(
                              page -> page.split("/console/jobs/" + application, -1).length - 1)
                          .sum())
                  .isEqualTo(120);
              assertThat(pages).hasSizeLessThanOrEqualTo(4);
              assertThat(pages.get(pages.size() - 1))
                  .doesNotContain("The search ended early")
                  .doesNotContain("No job matches");
            });
  }

  @Test
  void aJobIsNotLookedForInAllQueuesOfALargeApplication() {
    manyQueues();
    long before = calls();

    Answer answer =
        api.post(
            "/api/v1/command",
            "{\"command\":\"get\",\"application\":\"%s\",\"id\":\"j1\"}".formatted(application));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/error"))
        .isEqualTo(
            "topic is missing: "
                + application
                + " has 300 topics, and a job is looked for in at most 100");
    assertThat(calls() - before).isLessThan(BOUND);
    assertThat(
            api.post(
                    "/api/v1/command",
                    "{\"command\":\"get\",\"application\":\"%s\",\"topic\":\"type-1\",\"id\":\"j1\"}"
                        .formatted(application))
                .status())
        .isEqualTo(200);
  }
}
