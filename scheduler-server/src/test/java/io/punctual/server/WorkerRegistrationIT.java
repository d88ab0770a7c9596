package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.instance.RegisteredWorkers.Bound;
import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** Workers register at the scheduler; there is no registry. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class WorkerRegistrationIT extends SharedRedisTestBase {

  private static final Bound BOUND = new Bound(100_000, 100_000_000);

  private final String app = "a-" + UUID.randomUUID();
  private final String workers = "/api/v1/workers/" + app + "/";
  private final Queue<String> ran = new ConcurrentLinkedQueue<>();
  @Autowired private RegisteredWorkers registered;
  private HttpServer worker;

  @BeforeEach
  void startWorker() throws IOException {
    worker = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    worker.createContext(
        "/callback",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          if (exchange.getRequestMethod().equals("POST")) {
            ran.add(new String(body, StandardCharsets.UTF_8));
          }
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    worker.start();
  }

  @AfterEach
  void stopWorker() {
    worker.stop(0);
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(20));
  }

  private String url() {
    return "http://127.0.0.1:" + worker.getAddress().getPort() + "/callback";
  }

  private Answer put(String instance, String json) {
    return api.call("PUT", workers + instance, json.replace('\'', '"'), "");
  }

  private Answer register(String instance, String ttl) {
    return put(
        instance,
        "{'url':'" + url() + "','taskTypes':['mail.send'],'concurrency':7,'ttl':'" + ttl + "'}");
  }

  private void submit(String params) {
    String job =
        "{\"application\":\"%s\",\"taskType\":\"mail.send\",\"taskId\":\"%s\",\"delay\":0,"
            + "\"params\":\"%s\"}";
    assertThat(api.post("/api/v1/jobs", job.formatted(app, params, params)).status())
        .isEqualTo(201);
  }

  private int listed() {
    return api.get("/api/v1/workers?application=" + app).body().at("/items").size();
  }

  @Test
  void aWorkerThatRegisteredGetsJobsUntilItLeaves() {
    submit("before");
    Answer created = register("one", "1m");
    assertThat(created.status()).as(created.text()).isEqualTo(201);
    assertThat(created.at("/outcome")).isEqualTo("created");
    assertThat(created.body().at("/ttl").asInt()).isEqualTo(60_000);
    assertThat(created.body().at("/renewAfter").asInt()).isEqualTo(20_000);
    Answer again = register("one", "1m");
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.at("/outcome")).isEqualTo("renewed");
    eventually().until(() -> ran.contains("before"));
    submit("now");
    eventually().until(() -> ran.contains("now"));

    eventually().until(() -> listed() == 1);
    Answer list = api.get("/api/v1/workers?application=" + app);
    assertThat(list.at("/items/0/source")).isEqualTo("scheduler");
    assertThat(list.at("/items/0/callback")).isEqualTo(url());
    assertThat(list.at("/items/0/protocol")).isEqualTo("single");
    assertThat(list.body().at("/items/0/concurrency").asInt()).isEqualTo(7);

    assertThat(api.delete(workers + "one").at("/outcome")).isEqualTo("removed");
    assertThat(api.delete(workers + "one").status()).isEqualTo(404);
    eventually().until(() -> listed() == 0);
    submit("after");
    assertThat(ran).containsExactly("before", "now");

    assertThat(register("two", "1m").status()).isEqualTo(201);
    eventually().until(() -> ran.contains("after"));
  }

  @Test
  void aWorkerThatSaysSomethingElseIsHeard() {
    assertThat(register("one", "1m").at("/outcome")).isEqualTo("created");
    String other = "{'url':'" + url() + "','taskTypes':['other'],'ttl':'1m','release':'2.14.0'}";
    Answer changed = put("one", other);
    assertThat(changed.status()).isEqualTo(200);
    assertThat(changed.at("/outcome")).isEqualTo("changed");
    assertThat(put("one", other).at("/outcome")).isEqualTo("renewed");
    eventually()
        .until(
            () ->
                api.get("/api/v1/workers?application=" + app)
                    .text()
                    .matches(".*\"taskTypes\":\\[\"other\"].*\"release\":\"2.14.0\".*"));
  }

  /**
   * A rolling restart at one address: the run that goes does not take the one that came with it.
   */
  @Test
  void aRunRemovesItselfAndNoOther() {
    String job = "{'url':'" + url() + "','taskTypes':['mail.send'],'session':'%s'}";
    assertThat(put("one", job.formatted("old")).status()).isEqualTo(201);
    assertThat(put("one", job.formatted("new")).status()).isEqualTo(201);
    assertThat(put("one", job.formatted("old")).status()).isEqualTo(200);
    assertThat(api.delete(workers + "one?session=old").status()).isEqualTo(200);
    Answer late = api.delete(workers + "one?session=old");
    assertThat(late.status()).isEqualTo(404);
    assertThat(late.text()).contains("that id and session");
    submit("still");
    eventually().until(() -> ran.contains("still"));

    assertThat(api.delete(workers + "one?session=a%20b").status()).isEqualTo(400);
    assertThat(api.delete(workers + "one?session=new").status()).isEqualTo(200);
    Answer renewal = put("one", job.formatted("new"));
    assertThat(renewal.status()).as(renewal.text()).isEqualTo(409);
    assertThat(renewal.text()).contains("wrong-state", "another session");
    eventually().until(() -> listed() == 0);
    assertThat(put("one", job.formatted("newer")).status()).isEqualTo(201);
  }

  /** One application cannot fill what all schedulers read. */
  @Test
  void anApplicationHasSoManyInstances() {
    String text = "x".repeat(1_000_000);
    var put =
        registered.put(
            new RegisteredWorkers.Worker(app, "large", text),
            "",
            Duration.ofMinutes(1),
            BOUND,
            BOUND);
    assertThat(put).isEqualTo(RegisteredWorkers.Put.CREATED);
    Answer answer = register("one", "1m");
    assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    assertThat(answer.text()).contains("1000 instances", "1000000 characters");
    assertThat(api.delete(workers + "large").status()).isEqualTo(200);
    assertThat(register("one", "1m").status()).isEqualTo(201);
  }

  @Test
  void aThousandInstancesRegisterAndTheNextOneIsToldWhyItDoesNot() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(register("i-" + i, "5m").status()).as("instance " + i).isEqualTo(201);
    }

    Answer next = register("one-more", "5m");

    assertThat(next.status()).isEqualTo(400);
    assertThat(next.text()).contains("instance", app + " may have 1000 instances", "ttl is over");
    assertThat(register("i-0", "5m").at("/outcome")).as("one that is there").isEqualTo("renewed");
    assertThat(api.delete(workers + "i-1").status()).isEqualTo(200);
    assertThat(register("one-more", "5m").status()).as("there is room again").isEqualTo(201);
    for (int i = 0; i < 1_000; i++) {
      assertThat(api.delete(workers + "i-" + i).status()).isIn(200, 404);
    }
  }

  @Test
  void aWorkerThatDoesNotRenewIsGone() {
    assertThat(register("one", "5s").status()).isEqualTo(201);
    eventually().until(() -> listed() == 1);
    eventually().until(() -> listed() == 0);
    assertThat(register("one", "5s").status()).isEqualTo(201);
  }

  /** What another scheduler wrote into Redis. */
  @Test
  void aWorkerThatRegisteredElsewhereGetsJobs() {
    String text = "http\n127.0.0.1\n" + worker.getAddress().getPort() + "\n/callback\nsingle\n1\n";
    var put =
        registered.put(
            new RegisteredWorkers.Worker(app, "there", text + "mail.send"),
            "",
            Duration.ofMinutes(1),
            BOUND,
            BOUND);
    assertThat(put).isEqualTo(RegisteredWorkers.Put.CREATED);
    submit("elsewhere");
    eventually().until(() -> ran.contains("elsewhere"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                                                                  | url         |"
            + " missing",
        "{'url':'ftp://a/b','taskTypes':['x']}                               | url         | http",
        "{'url':'http://127.0.0.1:9/a b','taskTypes':['x']}                  | url         | URL",
        "{'url':'http://u:p@127.0.0.1:9/cb','taskTypes':['x']}               | url         | user",
        "{'url':'http://127.0.0.1:9/cb?x=1','taskTypes':['x']}               | url         | query",
        "{'url':'http://127.0.0.1:9','taskTypes':['x']}                      | url         | path",
        "{'url':'http://127.0.0.1:9/../x','taskTypes':['x']}                 | url         | path",
        "{'url':'http://127.0.0.1:99999/cb','taskTypes':['x']}               | url         | port",
        "{'url':'http://2130706433/cb','taskTypes':['x']}                    | url         | host",
        "{'url':'http://169.254.169.254/latest','taskTypes':['x']}           | url         | not"
            + " called",
        "{'url':'http://127.0.0.1:9/cb'}                                     | taskTypes   |"
            + " missing",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':[]}                      | taskTypes   | 1 to",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['a b']}                 | taskTypes[0] | must",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'concurrency':0}   | concurrency |"
            + " between 1",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'protocol':'soap'} | protocol    |"
            + " single",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'ttl':'1s'}        | ttl         |"
            + " between 5s",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'ttl':'365d'}      | ttl         | and"
            + " 5m",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'session':'a b'}   | session     | 64",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'release':'a b'}   | release     | 64",
        "{'url':'http://127.0.0.1:9/cb','taskTypes':['x'],'color':'red'}     | color       | known",
      })
  void whatCannotBeIsRefused(String json, String field, String text) {
    Answer answer = put("bad", json);
    assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
    assertThat(answer.text()).contains(text);
    assertThat(api.delete(workers + "bad").status()).isEqualTo(404);
  }

  @Test
  void longListsOfTypesAreRefused() {
    String types =
        IntStream.range(0, 99)
            .mapToObj(i -> "'" + "x".repeat(90) + i + "'")
            .collect(Collectors.joining(","));
    Answer answer = put("bad", "{'url':'" + url() + "','taskTypes':[" + types + "]}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    assertThat(answer.text()).contains("8000 characters");
  }
}
