package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Submission;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.server.SharedRedisTestBase;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.test.context.TestPropertySource;

/** A part of a page that has not changed is not sent again; one that has is, to all who ask. */
@TestPropertySource(properties = SharedRedisTestBase.ALONE + "=UnchangedPartsIT")
class UnchangedPartsIT extends ConsoleTestBase {

  private static final String LIVE = "/console?part=live";

  private final String type = "rest-" + UUID.randomUUID();

  @BeforeEach
  void aQueueThatRests() {
    submit(type, "far", "48h", "");
  }

  private static HttpResponse<String> poll(Visitor visitor, String path, String tag) {
    return visitor.get(path, "HX-Request", "true", "If-None-Match", tag);
  }

  private static String tag(HttpResponse<String> answer) {
    return answer.headers().firstValue("ETag").orElseThrow();
  }

  /** Polls as a page does until nothing has changed; returns the tag of what the page then has. */
  private static String settled(Visitor visitor, String path) {
    String[] tag = {tag(poll(visitor, path, "\"none\""))};
    Awaitility.await()
        .atMost(Duration.ofSeconds(90))
        .until(
            () -> {
              HttpResponse<String> answer = poll(visitor, path, tag[0]);
              tag[0] = tag(answer);
              assertThat(answer.body().isEmpty()).isEqualTo(answer.statusCode() == 304);
              return answer.statusCode() == 304;
            });
    return tag[0];
  }

  @ParameterizedTest
  @ValueSource(strings = {LIVE, "/console/charts", "/console/queues"})
  void whatThePageHasIsAnsweredWithoutABody(String path) {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      assertThat(settled(vera, path)).matches("\"[0-9a-f]{32}\"");

      assertThat(poll(vera, path, "\"other\"").statusCode()).isEqualTo(200);
      assertThat(vera.get(path, "HX-Request", "true").body()).contains("data-tag=\"&quot;");
    }
  }

  @Test
  void aPageThatIsOpenedIsDrawnWhateverTheBrowserHas() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String tag = settled(vera, "/console/queues");

      assertThat(vera.get("/console/queues", "If-None-Match", tag).body()).contains(type);
    }
  }

  @Test
  void aChangeByAnotherSchedulerShowsWithinSeconds() {
    QueueName queue = new QueueName("shop", type);
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String path = "/console/queues?q=" + type;
      String tag = settled(vera, path);
      // Not by the scheduler that is asked.
      RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(10)))
          .jobs()
          .submit(
              new Bucket(queue, 0),
              List.of(
                  new Submission(
                      "elsewhere",
                      "i-1",
                      Due.in(Duration.ofHours(47).toMillis()),
                      3,
                      0,
                      List.of(),
                      "{}".getBytes(StandardCharsets.UTF_8),
                      /* replace= */ false)));

      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> poll(vera, path, tag).body().contains(">2</td>"));
    }
  }

  @Test
  void whatAnOperatorDoesShowsAtOnce() {
    try (Visitor otto = Visitor.loggedIn(port, "otto")) {
      String path = "/console/queues?q=" + type;
      String tag = settled(otto, path);
      var unused = otto.get("/console/queues/shop/" + type);
      assertThat(otto.post("/console/queues/shop/" + type + "/pause", Map.of()).statusCode())
          .isEqualTo(302);

      assertThat(poll(otto, path, tag).body()).contains("class=\"tag paused\"");
    }
  }

  @Test
  void aJobThatFallsDueShowsWithoutAChangeOfItsQueue() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      submit(type, "soon", "6s", "");
      String path = "/console/queues?q=" + type;
      String tag = tag(poll(vera, path, "\"none\""));

      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> poll(vera, path, tag).body().contains("data-ms=\""));
    }
  }

  @Test
  void noViewerGetsTheAnswerOfAnother() {
    try (Visitor vera = Visitor.loggedIn(port, "vera");
        Visitor again = Visitor.loggedIn(port, "vera");
        Visitor otto = Visitor.loggedIn(port, "otto");
        Visitor stranger = new Visitor(port)) {
      for (String path : List.of(LIVE, "/console/queues")) {
        String tag = settled(vera, path);

        assertThat(poll(otto, path, tag).statusCode()).isEqualTo(200);
        assertThat(poll(again, path, tag).statusCode()).isEqualTo(200);
        HttpResponse<String> unknown = poll(stranger, path, tag);
        assertThat(unknown.statusCode()).isNotIn(200, 304);
        assertThat(unknown.headers().firstValue("ETag")).isEmpty();
      }
    }
  }

  @Test
  void anotherLanguageOrZoneIsAnotherAnswer() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      String tag = settled(vera, LIVE);

      assertThat(poll(vera, LIVE + "&lang=zh-CN", tag).body()).contains("lang=\"zh-CN\"");
      String chinese = settled(vera, LIVE);
      vera.keep("punctual-zone", "Asia/Tokyo");
      assertThat(poll(vera, LIVE, chinese).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void anAnswerIsKeptByNoCache() {
    try (Visitor vera = Visitor.loggedIn(port, "vera")) {
      assertThat(poll(vera, LIVE, "\"none\"").headers().firstValue("Cache-Control").orElse(""))
          .contains("no-store");
    }
  }
}
