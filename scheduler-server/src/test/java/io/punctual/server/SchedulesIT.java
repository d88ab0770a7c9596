package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.SpringBootTest;

/** Recurring schedules over HTTP, on a server that nobody runs jobs for. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "punctual.max-schedules=3"})
class SchedulesIT extends SharedRedisTestBase {

  private static final String SCHEDULES = "/api/v1/schedules";

  private final String application = "a-" + UUID.randomUUID();
  private final String nightly = SCHEDULES + "/" + application + "/report.daily/nightly";

  private Answer put(String path, String json) {
    return api.call(
        "PUT", path, "application/json", BodyPublishers.ofString(json.replace('\'', '"')));
  }

  private Answer post(String path, String json) {
    return api.post(path, json.replace('\'', '"'));
  }

  @Test
  void aScheduleIsPutFoundListedPausedAndDeleted() {
    String json =
        "{'cron':'0 9 * *"
            + " 1-5','zone':'Europe/Berlin','params':'p','headers':{'a':'b'},'tags':['t'],"
            + "'retry':'1s,2s','timeToRun':'30s','jitter':'5m','missedWithin':'2h'}";
    Answer created = put(nightly, json);
    assertThat(created.status()).as(created.text()).isEqualTo(201);
    assertThat(created.header("Location")).isEqualTo(nightly);
    assertThat(created.header("Punctual-Durability")).isEqualTo("redis");
    assertThat(created.at("/outcome")).isEqualTo("created");
    Answer again = put(nightly, json);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.at("/outcome")).isEqualTo("unchanged");
    assertThat(again.at("/nextAt")).isEqualTo(created.at("/nextAt"));

    Answer found = api.get(nightly + "?preview=3&from=2027-10-31T00:00:00Z");
    assertThat(found.at("/cron")).isEqualTo("0 9 * * 1-5");
    assertThat(found.at("/params")).isEqualTo("p");
    assertThat(found.at("/headers/a")).isEqualTo("b");
    assertThat(found.at("/tags/0")).isEqualTo("t");
    assertThat(found.at("/retry")).isEqualTo("1s,2s");
    assertThat(found.body().at("/timeToRun").asInt()).isEqualTo(30_000);
    assertThat(found.body().at("/jitter").asInt()).isEqualTo(300_000);
    assertThat(found.body().at("/missedWithin").asInt()).isEqualTo(7_200_000);
    assertThat(found.body().at("/preview")).hasSize(3);
    assertThat(found.at("/preview/0/at")).isEqualTo("2027-11-01T08:00:00Z");

    assertThat(put(nightly, "{'every':'1h'}").at("/outcome")).isEqualTo("replaced");
    assertThat(post(nightly + "/pause", "").body().at("/nextAt").isNull()).isTrue();
    assertThat(put(nightly, "{'every':'2h'}").at("/pausedSince")).isNotEmpty();
    assertThat(post(nightly + "/resume", "").at("/nextAt")).isNotEmpty();

    assertThat(api.get(SCHEDULES + "?application=" + application).at("/items/0/id"))
        .isEqualTo("nightly");
    assertThat(api.delete(nightly).at("/outcome")).isEqualTo("deleted");
    assertThat(api.delete(nightly).status()).isEqualTo(404);
    assertThat(api.get(nightly).status()).isEqualTo(404);
    for (String act : new String[] {"pause", "resume", "run"}) {
      assertThat(post(nightly + "/" + act, "").status()).isEqualTo(404);
    }
  }

  /** Tomcat would put the id of a new session into the address. */
  @Test
  void theFirstActOfABrowserLeadsToAnAddressWithoutASession() throws Exception {
    assertThat(put(nightly, "{'every':'1h'}").status()).isEqualTo(201);
    String page = "/console/schedules/" + application + "/report.daily/nightly";
    try (HttpClient browser = HttpClient.newHttpClient()) {
      HttpResponse<String> answer =
          browser.send(
              HttpRequest.newBuilder(URI.create("http://localhost:" + port + page + "/pause"))
                  .header("Content-Type", "application/x-www-form-urlencoded")
                  .POST(BodyPublishers.ofString(""))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(302);
      assertThat(answer.headers().firstValue("Location").orElseThrow()).endsWith(page);
    }
  }

  @Test
  void aRunThatTookPlaceIsShownAlsoIfACalendarClosesItsDateLater() {
    String closed = "closed-" + UUID.randomUUID();
    String calendar = "/api/v1/calendars/" + closed;
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    assertThat(put(calendar, "{'dates':['" + today.minusDays(9) + "']}").status()).isEqualTo(201);
    assertThat(put(nightly, "{'every':'1s','exclude':['" + closed + "']}").status()).isEqualTo(201);
    Awaitility.await().until(() -> !api.get(nightly).at("/lastAt").isEmpty());
    assertThat(post(nightly + "/pause", "").status()).isEqualTo(200);
    String last = "nightly@" + api.get(nightly).at("/lastAt");
    String page = "/console/schedules/" + application + "/report.daily/nightly";
    assertThat(api.get(page).text()).contains(last);

    String days = today.minusDays(1) + "','" + today + "','" + today.plusDays(1);
    assertThat(put(calendar, "{'dates':['" + days + "']}").status()).isEqualTo(200);

    assertThat(api.get(page).text()).contains(last);
    assertThat(api.delete(nightly).status()).isEqualTo(200);
    assertThat(api.delete(calendar).status()).isEqualTo(200);
  }

  @Test
  void anInstanceDeclaresWhatItHasInItsCode() {
    String own = SCHEDULES + "/" + application + "/report.daily/report.daily";
    assertThat(put(own, "{'every':'1h'}").at("/origin")).isEqualTo("api");
    String declaration =
        "{'application':'" + application + "','taskTypes':['report.daily','none']}";
    Answer declared = post(SCHEDULES + "/declare", declaration);
    assertThat(declared.status()).as(declared.text()).isEqualTo(200);
    assertThat(declared.body().at("/declared").asInt()).isEqualTo(1);
    assertThat(api.get(own).at("/origin")).isEqualTo("code");
    // A deploy puts the same again, or another pauses it: neither moves it nor lets it go.
    Answer paused = post(own + "/pause", "");
    assertThat(paused.at("/origin")).isEqualTo("code");
    assertThat(put(own, "{'every':'1h'}").at("/pausedSince")).isEqualTo(paused.at("/pausedSince"));
    assertThat(put(own, "{'every':'2h'}").at("/origin")).isEqualTo("api");

    Answer missing = post(SCHEDULES + "/declare", "{'application':'" + application + "'}");
    assertThat(missing.status()).isEqualTo(400);
    assertThat(missing.at("/errors/0/field")).isEqualTo("taskTypes");
    for (String wrong : new String[] {"a b", "n".repeat(101)}) {
      assertThat(post(SCHEDULES + "/declare", declaration.replace("none", wrong)).status())
          .isEqualTo(400);
    }
  }

  @Test
  void aPlannedInstantBecomesAJobThatIsFoundByItsId() {
    assertThat(put(nightly, "{'every':'1s','params':'p','whileRunning':'start'}").status())
        .isEqualTo(201);
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> api.get(nightly).body().at("/counts/fired").asInt() >= 2);
    Answer paused = post(nightly + "/pause", "");
    String taskId = "nightly@" + paused.at("/lastAt");

    String job = "/api/v1/jobs/" + application + "/report.daily/" + taskId;
    Answer found = api.get(job);
    assertThat(found.status()).as(found.text()).isEqualTo(200);
    assertThat(found.at("/params")).isEqualTo("p");
    assertThat(found.at("/dueAt")).isEqualTo(paused.at("/lastAt"));
    assertThat(found.at("/submittedBy")).isEqualTo("schedule/nightly");
    assertThat(api.delete(job).at("/outcome")).isEqualTo("cancelled");
  }

  @Test
  void aJobIsRunNowAndInstantsAreMadeUpFor() {
    put(nightly, "{'cron':'@daily'}");
    Answer run = post(nightly + "/run", "");
    assertThat(run.at("/outcome")).isEqualTo("created");
    assertThat(run.at("/taskId")).isEqualTo("nightly@" + run.at("/at"));

    Answer filled =
        post(
            nightly + "/backfill",
            "{'from':'2026-01-01T00:00:00Z','until':'2026-01-03T00:00:00Z','limit':2,'policy':'start'}");
    assertThat(filled.status()).as(filled.text()).isEqualTo(200);
    assertThat(filled.at("/items/1/taskId")).isEqualTo("nightly@2026-01-02T00:00:00Z");
    assertThat(filled.at("/next")).isEqualTo("2026-01-03T00:00:00Z");
  }

  @Test
  void oneThatHasEndedIsPutAgainAndHasNoNextInstant() {
    String json = "{'every':'1s','until':'%s'}".formatted(java.time.Instant.now().plusSeconds(3));
    assertThat(put(nightly, json).status()).isEqualTo(201);
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> api.get(nightly).body().at("/nextAt").isNull());
    Answer ended = api.get(nightly + "?preview=2");
    assertThat(ended.status()).as(ended.text()).isEqualTo(200);
    assertThat(ended.body().at("/preview")).isEmpty();
    assertThat(put(nightly, json).at("/outcome")).isEqualTo("unchanged");
  }

  @Test
  void noOtherCallSubmitsTheIdOfAPlannedInstant() {
    String id = "nightly@2027-01-01T00:00:00Z";
    Answer submitted =
        post(
            "/api/v1/jobs",
            "{'application':'%s','taskType':'t','taskId':'%s','delay':0}"
                .formatted(application, id));
    assertThat(submitted.status()).isEqualTo(400);
    assertThat(submitted.at("/errors/0/field")).isEqualTo("taskId");
    Answer added =
        post(
            "/api/v1/command",
            "{'command':'add','application':'%s','topic':'t','id':'%s','delay':0}"
                .formatted(application, id));
    assertThat(added.status()).isEqualTo(400);
    assertThat(added.at("/error")).contains("schedules");
  }

  @Test
  void anApplicationHasAsManySchedulesAsItMay() {
    for (int i = 0; i < 3; i++) {
      assertThat(put(nightly + i, "{'every':'1h'}").status()).isEqualTo(201);
    }
    Answer refused = put(nightly, "{'every':'1h'}");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.at("/errors/0/field")).isEqualTo("id");
    assertThat(refused.at("/detail")).contains("has 3 schedules, which is the most");

    Answer first = api.get(SCHEDULES + "?application=" + application + "&limit=2");
    assertThat(first.body().at("/items")).hasSize(2);
    Answer rest =
        api.get(
            SCHEDULES
                + "?application="
                + application
                + "&limit=2&cursor="
                + first.at("/nextCursor").replace("%", "%25"));
    assertThat(rest.body().at("/items")).hasSize(1);
    assertThat(rest.body().at("/nextCursor").isNull()).isTrue();
    // Else an application could begin its list at those of others.
    Answer foreign = api.get(SCHEDULES + "?application=" + application + "&cursor=a");
    assertThat(foreign.status()).isEqualTo(400);
    assertThat(foreign.at("/errors/0/field")).isEqualTo("cursor");
    assertThat(api.get(SCHEDULES + "?cursor=xyz").at("/errors/0/field")).isEqualTo("cursor");
  }

  @Test
  void eachOfManyRunsAtOnceIsAJobOfItsOwn() {
    String at = SCHEDULES + "/" + application + "/report/often";
    assertThat(put(at, "{'every':'1h'}").status()).isEqualTo(201);
    Set<String> jobs =
        IntStream.range(0, 20)
            .parallel()
            .mapToObj(i -> api.post(at + "/run", "").at("/taskId"))
            .collect(Collectors.toSet());

    assertThat(jobs).hasSize(20).allMatch(job -> job.startsWith("often@"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'cron':'@daily','application':'x'}                      | application  | stands in the address
          {'cron':'@daily','until':'2020-01-01T00:00:00Z'}         | cron         | never fires
          {'cron':'@daily','missed':'some'}                        | missed       | must be one of none, latest, all
          {'cron':'@daily','missed':'all'}                         | missed       | must not be all unless whileRunning is start
          {'cron':'@daily','missed':'none','missedWithin':'1h'}    | missedWithin | belongs to missed latest and all
          {'cron':'@daily','missedWithin':'1s'}                    | missedWithin | between 1m and 366d
          {'cron':'@daily','whileRunning':'wait'}                  | whileRunning | must be one of skip, queue, start
          {'cron':'@daily','jitter':'25h'}                         | jitter       | between 0s and 24h
          {'every':'1h','jitter':'1h'}                             | jitter       | must be less than PT1H
          {'cron':'0 0 0 L-28 * *'}                                | cron         | at most L-27
          {'cron':'@daily','timeToRun':1}                          | timeToRun    | must be between
          {'cron':'@daily','tags':['a b']}                         | tags         | printable ASCII
          {'cron':'@daily','headers':{'A':'b'}}                    | headers      | must match
          {'cron':'@daily','retry':'soon'}                         | retry        | soon
          """)
  void whatIsWrongIsNamed(String json, String field, String detail) {
    Answer answer = put(nightly, json);
    assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
    assertThat(answer.at("/errors/0/detail")).contains(detail);
    assertThat(api.get(nightly).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'until':'2027-01-01T00:00:00Z','policy':'start'}                               | from
          {'from':'2027-01-01T00:00:00Z','policy':'start'}                                | until
          {'from':'2027-01-01T00:00:00Z','until':'2026-01-01T00:00:00Z','policy':'start'} | until
          {'from':'2026-01-01T00:00:00Z','until':'2027-01-01T00:00:00Z'}                  | policy
          {'from':'2026-01-01T00:00:00Z','until':'2027-01-01T00:00:00Z','policy':'skip'}  | policy
          {'from':'2026-01-01T00:00:00Z','until':'2027-01-01T00:00:00Z','policy':'start','limit':0} | limit
          """)
  void aBackfillNamesItsBoundsAndItsPolicy(String json, String field) {
    put(nightly, "{'cron':'@daily'}");
    Answer answer = post(nightly + "/backfill", json);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
  }

  @Test
  void anIdThatIsNoneIsRefused() {
    assertThat(put(nightly.replace("nightly", "n".repeat(101)), "{'every':'1h'}").at("/detail"))
        .contains("id must be 1 to 100 characters");
    assertThat(put(nightly.replace("nightly", "a@b"), "{'every':'1h'}").status()).isEqualTo(400);
  }
}
