package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.UndoLimits;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.BadInputs.Bad;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.data.redis.connection.RedisConnection;
import tools.jackson.databind.JsonNode;

/** The API as its users meet it, on a server that nobody runs jobs for. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=HttpApiIT"})
class HttpApiIT extends SharedRedisTestBase {

  private static final String JOBS = "/api/v1/jobs";

  private final String id = "j-" + UUID.randomUUID();

  @Test
  void aJobIsCreatedAndFoundWhereItsLocationSays() {
    Answer created =
        api.post(
            JOBS,
            """
            {"application":"Shop","taskType":"order.close","taskId":"%s","delayTime":1999999999999,
             "params":"{\\"@class\\":\\"x\\",\\"n\\":\\"\\u0000 %s\\"}","timeToRun":"30s",
             "retry":"1s,2s","headers":{"trace":"abc"}}
            """
                .formatted(id, "${jndi:ldap://x}"));

    assertThat(created.status()).isEqualTo(201);
    assertThat(created.header("Location")).isEqualTo(JOBS + "/shop/order.close/" + id);
    assertThat(created.at("/outcome")).isEqualTo("created");
    JsonNode job = api.get(created.header("Location")).body();
    assertThat(job.at("/application").asString()).isEqualTo("shop");
    assertThat(job.at("/state").asString()).isEqualTo("delayed");
    assertThat(job.at("/delayTime").asLong()).isEqualTo(1999999999999L);
    assertThat(job.at("/dueAt").asString()).isEqualTo("2033-05-18T03:33:19.999Z");
    assertThat(job.at("/params").asString())
        .isEqualTo("{\"@class\":\"x\",\"n\":\"\u0000 ${jndi:ldap://x}\"}");
    assertThat(job.at("/timeToRun").asLong()).isEqualTo(30_000);
    assertThat(job.at("/retry").asString()).isEqualTo("1s,2s");
    assertThat(job.at("/headers/trace").asString()).isEqualTo("abc");
    assertThat(job.at("/attempts/max").asInt()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 16_383, 16_384, 16_385, 65_536, 200_000})
  void paramsOfAnyLengthAndWithAnyCharacterAreKept(int length) {
    String params = "\ufffd \ud83d\ude00 " + "x".repeat(length);
    String submit =
        """
        {"application":"shop","taskType":"t","taskId":"%s","delay":"1h","params":"%s"}\
        """
            .formatted(id, params);

    assertThat(api.post(JOBS, submit).status()).isEqualTo(201);
    assertThat(api.get(JOBS + "/shop/t/" + id).at("/params")).isEqualTo(params);
  }

  @Test
  void aBatchIsAnsweredWithoutWhatWasSentToWhoPrefersThat() {
    String good = job(id, "\"delayTime\":1999999999999");
    String body = "{\"jobs\":[" + good + ",{\"taskType\":\"t\"}]}";

    Answer minimal = batch(body, "respond-async, return=minimal");
    Answer whole = batch(body, "return=representation, return=minimal");
    Answer named =
        batch(
            "{\"jobs\":[{\"application\":\"shop\",\"taskType\":\"t\",\"delay\":\"1h\"}]}",
            "return=minimal");

    assertThat(minimal.header("Preference-Applied")).isEqualTo("return=minimal");
    assertThat(minimal.body().at("/results/0").propertyNames())
        .containsExactlyInAnyOrder("status", "outcome", "delayTime");
    assertThat(minimal.at("/results/0/outcome")).isEqualTo("created");
    assertThat(minimal.at("/results/0/delayTime")).isEqualTo("1999999999999");
    assertThat(minimal.at("/results/1/status")).isEqualTo("400");
    assertThat(minimal.at("/results/1/problem/detail")).contains("application");
    assertThat(whole.at("/results/0/taskId")).isEqualTo(id);
    assertThat(whole.at("/results/0/outcome")).isEqualTo("already_there");
    String given = named.at("/results/0/taskId");
    assertThat(api.get(JOBS + "/shop/t/" + given).status()).as("that id is new").isEqualTo(200);
  }

  private Answer batch(String body, String prefer) {
    return api.send(
        JOBS + "/batch",
        request ->
            request
                .header("Content-Type", "application/json")
                .header("Prefer", prefer)
                .POST(BodyPublishers.ofString(body)));
  }

  @Test
  void aJobWithoutAnIdGetsOne() {
    Answer created =
        api.post(JOBS, "{\"application\":\"shop\",\"taskType\":\"t\",\"delay\":\"1h\"}");

    assertThat(created.status()).isEqualTo(201);
    assertThat(api.get(created.header("Location")).at("/taskId")).isEqualTo(created.at("/taskId"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"delayTime\":0", "\"delay\":0", "\"delayTime\":1600000000000"})
  void aTimeThatIsOverMeansNow(String time) {
    assertThat(api.post(JOBS, job(id, time)).status()).isEqualTo(201);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 1/30d",
    "1, 1000000, 1000000/s",
    "1, 999999, 1000000/ms",
    "4, 4, 1/8d",
    "4, 1000000, 1/30d",
    "64, 1000000, 1000000/30d",
    "64, 64, 1000000/ms"
  })
  void limitsAreKeptAndShownUpToTheirBounds(int buckets, int concurrency, String rate) {
    String limits = givenQueue(buckets) + "/limits";

    Answer answer =
        put(limits, "{\"concurrency\":%d,\"rate\":\"%s\"}".formatted(concurrency, rate));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body().at("/buckets").asInt()).isEqualTo(buckets);
    assertThat(answer.body().at("/limits/concurrency").asInt()).isEqualTo(concurrency);
    assertThat(answer.body().at("/limits/rate").asString()).isEqualTo(rate);
  }

  @ParameterizedTest
  @CsvSource({
    "4, '\"concurrency\":3', concurrency, 'number of the queue''s buckets, 4'",
    "1, '\"concurrency\":1000001', concurrency, between 1 and 1000000",
    "4, '\"rate\":\"1/31d\"', rate, 'must be over 1 ms to 30 days, not ''1/31d'''",
    "4, '\"rate\":\"1000001/s\"', rate, 'must be of 1 to 1,000,000 jobs'"
  })
  void aLimitThatCannotBeKeptIsRefusedByItsName(
      int buckets, String limit, String field, String detail) {
    Answer answer = put(givenQueue(buckets) + "/limits", "{" + limit + "}");

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
    assertThat(answer.at("/errors/0/detail")).contains(detail);
  }

  @Test
  void aQueueIsClosedOutsideOfItsHours() {
    String queue = givenQueue(2);
    String today = LocalDate.now(ZoneOffset.UTC).plusDays(3).getDayOfWeek().name().substring(0, 3);
    Answer closed = put(queue + "/hours", "{\"window\":\"" + today + " 09:00-20:00\"}");
    assertThat(closed.status()).isEqualTo(200);
    assertThat(closed.at("/hours/window")).isEqualToIgnoringCase(today + " 09:00-20:00");
    assertThat(Instant.parse(closed.at("/closedUntil"))).isAfter(Instant.now());
    assertThat(api.get(queue).at("/closedUntil")).isEqualTo(closed.at("/closedUntil"));

    Answer open =
        put(queue + "/hours", "{\"window\":\"00:00-24:00\",\"windowZone\":\"Asia/Tokyo\"}");
    assertThat(open.at("/hours/windowZone")).isEqualTo("Asia/Tokyo");
    assertThat(open.body().at("/closedUntil").isNull()).isTrue();

    Answer utc = put(queue + "/hours", "{\"window\":\"00:00-24:00\",\"windowZone\":\"UTC\"}");
    assertThat(utc.at("/hours/windowZone")).isEqualTo("UTC");

    Answer none = put(queue + "/hours", "{}");
    assertThat(none.body().at("/hours/window").isNull()).isTrue();
    assertThat(none.body().at("/hours/windowZone").isNull()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "'\"window\":\"Mon 9-20\"', window, Mon-Fri 09:00-20:00",
    "'\"window\":\"Mon 25:00-26:00\"', window, no clock shows",
    "'\"window\":\"09:00-20:00\",\"windowZone\":\"Mars\"', windowZone, IANA time zone",
    "'\"windowZone\":\"UTC\"', windowZone, needs a window or a calendar",
    "'\"calendar\":\"nowhere\"', calendar, PUT /api/v1/calendars/nowhere"
  })
  void hoursThatAreNoneAreRefusedByTheirName(String hours, String field, String detail) {
    Answer answer = put(givenQueue(1) + "/hours", "{" + hours + "}");

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
    assertThat(answer.at("/errors/0/detail")).contains(detail);
  }

  @Test
  void aJobSaysWhenItMayStart() {
    String rules = "\"delayTime\":1999999999999,\"within\":\"5m\",";
    Answer created = api.post(JOBS, job(id, rules + "\"notAfter\":\"2033-05-18T04:00:00Z\""));
    assertThat(created.status()).isEqualTo(201);
    long dueAt = created.body().at("/delayTime").asLong();
    assertThat(dueAt).isBetween(1999999999999L, 1999999999999L + 300_000);
    Answer again = api.post(JOBS, job(id, rules + "\"notAfter\":\"2033-05-18T04:00:00Z\""));
    assertThat(again.at("/outcome")).isEqualTo("already_there");
    Answer other = api.post(JOBS, job(id, rules + "\"notAfter\":\"2033-05-18T05:00:00Z\""));
    assertThat(other.at("/differing/0")).isEqualTo("notAfter");

    JsonNode found = api.get(created.header("Location")).body();
    assertThat(found.at("/notAfter").asString()).isEqualTo("2033-05-18T04:00:00Z");
    assertThat(found.at("/within").asLong()).isEqualTo(300_000);
    assertThat(found.at("/delayTime").asLong()).isEqualTo(dueAt);
    assertThat(found.has("tags")).isFalse();

    String job = created.header("Location");
    Answer changed =
        api.call(
            "PATCH",
            job,
            "application/json",
            BodyPublishers.ofString("{\"notAfter\":\"2033-06-01T00:00:00Z\"}"));
    assertThat(changed.status()).isEqualTo(200);
    assertThat(api.get(job).at("/notAfter")).isEqualTo("2033-06-01T00:00:00Z");
    Answer refused =
        api.call(
            "PATCH", job, "application/json", BodyPublishers.ofString("{\"expiresIn\":\"1h\"}"));
    assertThat(refused.at("/errors/0/field")).isEqualTo("expiresIn");
  }

  @Test
  void aJobStartsInItsWindowAndNotOnADayOfItsCalendar() {
    String calendar = "/api/v1/calendars/" + id;
    assertThat(api.get(calendar).status()).isEqualTo(404);
    Answer put = put(calendar, "{\"dates\":[\"2033-05-19\",\"2033-05-20\",\"2033-05-19\"]}");
    assertThat(put.status()).isEqualTo(201);
    assertThat(put.header("Location")).isEqualTo(calendar);
    assertThat(put.body().at("/dates")).hasSize(2);
    Answer again =
        put(
            calendar,
            "{\"iCalendar\":\"BEGIN:VCALENDAR\\nBEGIN:VEVENT\\nDTSTART;VALUE=DATE:20330519\\n"
                + "END:VEVENT\\nEND:VCALENDAR\"}");
    assertThat(again.status()).isEqualTo(200);
    assertThat(api.get(calendar).at("/dates/0")).isEqualTo("2033-05-19");
    assertThat(api.get("/api/v1/calendars").body().at("/items").toString()).contains(id);

    // A Wednesday, at 05:33 in Berlin.
    String rules =
        "\"delayTime\":1999999999999,\"window\":\"wed-thu 04:00-05:30; Fri 09:00-10:00\","
            + "\"windowZone\":\"Europe/Berlin\",\"calendar\":\"%s\"".formatted(id);
    Answer created = api.post(JOBS, job(id, rules));
    assertThat(created.status()).isEqualTo(201);
    assertThat(created.at("/dueAt")).isEqualTo("2033-05-20T07:00:00Z");
    JsonNode found = api.get(created.header("Location")).body();
    assertThat(found.at("/window").asString()).isEqualTo("Wed,Thu 04:00-05:30; Fri 09:00-10:00");
    assertThat(found.at("/windowZone").asString()).isEqualTo("Europe/Berlin");
    assertThat(found.at("/calendar").asString()).isEqualTo(id);

    String location = created.header("Location");
    assertThat(api.patch(location, "{\"windowZone\":\"UTC\"}").status()).isEqualTo(200);
    assertThat(api.get(location).at("/windowZone")).isEqualTo("UTC");
    assertThat(api.patch(location, "{\"calendar\":\"none-such\"}").at("/errors/0/field"))
        .isEqualTo("calendar");
    assertThat(api.get(location).at("/calendar")).isEqualTo(id);

    assertThat(put(calendar, "{}").at("/errors/0/field")).isEqualTo("dates");
    assertThat(put(calendar, "{\"dates\":[\"2033-02-29\"]}").at("/errors/0/field"))
        .isEqualTo("dates[0]");
    assertThat(put(calendar, "{\"iCalendar\":\"x\"}").at("/errors/0/field")).isEqualTo("iCalendar");
    assertThat(api.call("DELETE", calendar, "application/json", BodyPublishers.noBody()).status())
        .isEqualTo(200);
    assertThat(api.call("DELETE", calendar, "application/json", BodyPublishers.noBody()).status())
        .isEqualTo(404);
  }

  @Test
  void aQueueSaysWhatBecomesOfJobsThatAreTooLate() {
    String queue = givenQueue(1);
    assertThat(api.get(queue).at("/expired")).isEqualTo("dead");
    assertThat(put(queue + "/expiry", "{\"expired\":\"drop\"}").at("/expired")).isEqualTo("drop");
    assertThat(put(queue + "/expiry", "{\"expired\":\"dead\"}").at("/expired")).isEqualTo("dead");
    assertThat(put(queue + "/expiry", "{\"expired\":\"gone\"}").at("/errors/0/field"))
        .isEqualTo("expired");
    assertThat(put(queue + "/expiry", "{}").status()).isEqualTo(400);
  }

  private Answer put(String path, String body) {
    return api.call("PUT", path, "application/json", BodyPublishers.ofString(body));
  }

  /** A queue that was made when so many buckets were configured. */
  private String givenQueue(int buckets) {
    String type = "limited." + buckets;
    try (RedisConnection redis = connections.getConnection()) {
      redis
          .hashCommands()
          .hSet(
              (prefix + ":queues").getBytes(StandardCharsets.UTF_8),
              ("shop:" + type).getBytes(StandardCharsets.UTF_8),
              String.valueOf(buckets).getBytes(StandardCharsets.UTF_8));
    }
    return "/api/v1/queues/shop/" + type;
  }

  @ParameterizedTest
  @CsvSource({
    "2038-01-19T03:14:08Z, 2147483648000",
    "9999-12-31T23:59:59.999Z, 253402300799999",
    // An hour that comes twice.
    "2027-10-31T02:30:00+02:00, 1824942600000",
    "2027-10-31T02:30:00+01:00, 1824946200000"
  })
  void aTimeIsKeptToTheMillisecondHoweverFarOff(String dueAt, long delayTime) {
    Answer created = api.post(JOBS, job(id, "\"dueAt\":\"%s\"".formatted(dueAt)));

    assertThat(created.status()).isEqualTo(201);
    assertThat(api.get(created.header("Location")).body().at("/delayTime").asLong())
        .isEqualTo(delayTime);
  }

  @ParameterizedTest
  @ValueSource(strings = {"order:4711", "Order:4711", "EUREKA", "-._:", "batch"})
  void everyIdWithinTheRulesIsFoundByItsLocation(String name) {
    Answer created = api.post(JOBS, job(name));

    assertThat(created.status()).isEqualTo(201);
    assertThat(api.get(created.header("Location")).at("/taskId")).isEqualTo(name);
  }

  @Test
  void theSameJobAgainIsAlreadyThere() {
    api.post(JOBS, job(id, "\"delayTime\":1999999999999"));

    Answer again = api.post(JOBS, job(id, "\"delayTime\":1999999999999"));

    assertThat(again.status()).isEqualTo(200);
    assertThat(again.at("/outcome")).isEqualTo("already_there");
  }

  @Test
  void anotherJobWithTheSameIdIsAConflictThatNamesTheDifferences() {
    api.post(JOBS, job(id, "\"delayTime\":1999999999999"));

    Answer other = api.post(JOBS, job(id, "\"delayTime\":1999999999999,\"params\":\"other\""));

    assertProblem(other, 409, "conflict");
    assertThat(other.at("/taskId")).isEqualTo(id);
    assertThat(other.at("/differing/0")).isEqualTo("params");
    assertThat(api.get(path(id)).at("/params")).isEmpty();
  }

  @Test
  void aFetchedRetryIsLateSinceItsOwnDueTime() {
    api.post(JOBS, job(id, "\"delay\":0"));
    JsonNode first = claimed();
    api.post("/api/v1/claims/" + first.get("token").asString() + "/nack", "{\"delay\":\"300ms\"}");
    JsonNode retry = claimed();
    api.post("/api/v1/claims/" + retry.get("token").asString() + "/ack", "");

    long claimedAt = retry.get("claimedAt").asLong();
    long lateSince = retry.get("lateSince").asLong();
    assertThat(first.get("lateSince")).isEqualTo(first.get("dueTime"));
    assertThat(retry.get("dueTime")).isEqualTo(first.get("dueTime"));
    assertThat(lateSince).isBetween(first.get("claimedAt").asLong() + 300, claimedAt);
    assertThat(api.get(path(id)).body().at("/finishedBy/lateMs").asLong())
        .isEqualTo(claimedAt - lateSince);
  }

  private JsonNode claimed() {
    Answer claimed =
        api.post(
            "/api/v1/claims",
            "{\"application\":\"shop\",\"taskTypes\":[\"order.close\"],\"wait\":\"10s\"}");
    assertThat(claimed.at("/jobs/0/taskId")).isEqualTo(id);
    return claimed.body().at("/jobs/0");
  }

  @Test
  void aConflictWithAJobThatRanSaysUntilWhenItsIdIsRemembered() {
    api.post(JOBS, job(id, "\"delay\":0"));
    api.post("/api/v1/claims/" + claimed().get("token").asString() + "/ack", "");
    Answer found = api.get(path(id));
    String finished = found.at("/finishedAt");
    assertThat(found.at("/finishedBy/attempt")).isEqualTo("1");
    assertThat(found.body().has("attempts")).isFalse();
    Answer got =
        api.post(
            "/api/v1/command",
            "{\"command\":\"get\",\"application\":\"shop\",\"topic\":\"order.close\",\"id\":\"%s\"}"
                .formatted(id));
    assertThat(got.at("/value/attempts")).isEqualTo("1");
    assertThat(found.at("/finishedBy/instance")).startsWith("127.0.0.1");
    assertThat(Instant.parse(found.at("/finishedBy/startedAt")))
        .isBeforeOrEqualTo(Instant.parse(finished));

    Answer other = api.post(JOBS, job(id, "\"delay\":0,\"params\":\"other\""));
    Answer added =
        api.post(
            "/api/v1/command",
            "{\"command\":\"add\",\"application\":\"shop\",\"topic\":\"order.close\",\"id\":\"%s\",\"delay\":0,\"body\":\"other\"}"
                .formatted(id));

    String ran =
        "it ran at "
            + finished
            + ", and its id is remembered until "
            + Instant.parse(finished).plus(Duration.ofMinutes(10));
    assertProblem(other, 409, "conflict");
    assertThat(other.at("/detail"))
        .contains(
            ran
                + ". Choose another id, or replace it: onConflict=replace over HTTP, replace() in"
                + " Java");
    assertThat(added.status()).isEqualTo(409);
    assertThat(added.at("/error")).contains(ran + ". Choose another id, or wait until then");
    // What the text says to do works.
    assertThat(
            api.post(JOBS + "?onConflict=replace", job(id, "\"delay\":\"1h\",\"params\":\"new\""))
                .status())
        .isIn(200, 201);
    assertThat(api.get(path(id)).at("/params")).isEqualTo("new");
  }

  @Test
  void aJobIsReplacedWhenAskedFor() {
    api.post(JOBS, job(id, "\"delayTime\":1999999999999"));

    Answer replaced =
        api.post(
            JOBS + "?onConflict=replace",
            job(id, "\"delayTime\":1888888888888,\"params\":\"new\""));

    assertThat(replaced.status()).isEqualTo(200);
    assertThat(replaced.at("/outcome")).isEqualTo("replaced");
    assertThat(api.get(path(id)).at("/params")).isEqualTo("new");
    assertThat(api.get(path(id)).at("/delayTime")).isEqualTo("1888888888888");
  }

  @Test
  void aBadJobInABatchHarmsNoOther() {
    String jobs =
        job(id + "-0")
            + ","
            + job(id + "-1").replace("\"delay\"", "\"deley\"")
            + ","
            + job(id + "-2");

    Answer batch = api.post(JOBS + "/batch", "{\"jobs\":[" + jobs + ",17]}");

    assertThat(batch.status()).isEqualTo(200);
    assertThat(batch.at("/results/0/status")).isEqualTo("201");
    assertThat(batch.at("/results/1/status")).isEqualTo("400");
    assertThat(batch.at("/results/1/problem/errors/0/field")).isEqualTo("jobs[1].deley");
    assertThat(batch.at("/results/2/outcome")).isEqualTo("created");
    assertThat(batch.at("/results/3/problem/errors/0/field")).isEqualTo("jobs[3]");
    assertThat(api.get(path(id + "-2")).status()).isEqualTo(200);
    assertProblem(api.get(path(id + "-1")), 404, "not-found");
  }

  @Test
  void aBatchAnswersForEachJobAlsoWhereIdsRepeat() {
    String delayed = "\"delayTime\":1999999999999";
    Answer batch =
        api.post(
            JOBS + "/batch",
            "{\"jobs\":["
                + job(id, delayed)
                + ","
                + job(id, delayed)
                + ","
                + job(id, delayed + ",\"params\":\"x\"")
                + "]}");

    assertThat(batch.at("/results/0/status")).isEqualTo("201");
    assertThat(batch.at("/results/1/status")).isEqualTo("200");
    assertThat(batch.at("/results/2/problem/code")).isEqualTo("conflict");
  }

  @Test
  void aThousandJobsFitIntoABatch() {
    Answer batch = api.post(JOBS + "/batch", "{\"jobs\":[" + jobs(1_000) + "]}");

    assertThat(batch.body().at("/results").valueStream().map(r -> r.at("/status").asInt()))
        .hasSize(1_000)
        .containsOnly(201);
  }

  @Test
  void aJobIsMovedAndRunAtOnce() {
    api.post(JOBS, job(id));

    Answer moved = api.patch(path(id), "{\"delayTime\":1888888888888}");
    assertThat(moved.status()).isEqualTo(200);
    assertThat(moved.at("/outcome")).isEqualTo("rescheduled");
    assertThat(api.get(path(id)).at("/delayTime")).isEqualTo("1888888888888");

    Answer run = api.call("POST", path(id) + "/run", "application/json", BodyPublishers.noBody());
    assertThat(run.status()).isEqualTo(200);
    assertThat(api.get(path(id)).body().at("/delayTime").asLong())
        .isLessThanOrEqualTo(run.body().at("/delayTime").asLong());
  }

  @Test
  void aCancelledJobIsGoneAndStaysGone() {
    api.post(JOBS, job(id));

    assertThat(api.delete(path(id)).at("/outcome")).isEqualTo("cancelled");
    assertThat(api.delete(path(id)).status()).isIn(200, 404);
    assertThat(api.patch(path(id), "{\"delay\":1}").status()).isEqualTo(404);
    assertThat(api.post(path(id) + "/run", "").status()).isEqualTo(404);
  }

  @Test
  void aCancelIsUndone() {
    api.post(JOBS, job(id, "\"delay\":\"1h\",\"params\":\"all of it\",\"tags\":[\"a\"]"));
    Answer before = api.get(path(id));
    assertThat(api.delete(path(id)).at("/version")).isEqualTo("2");
    assertThat(api.get(path(id)).at("/restorableUntil")).isNotEmpty();

    for (int i = 0; i < 2; i++) {
      Answer restored = api.post(path(id) + "/restore", "");
      assertThat(restored.status()).isEqualTo(200);
      assertThat(restored.at("/outcome")).isEqualTo("restored");
      assertThat(restored.at("/dueAt")).isEqualTo(before.at("/dueAt"));
      assertThat(restored.at("/version")).isEqualTo("3");
      assertThat(restored.header("ETag")).endsWith(".3\"");
    }
    Answer after = api.get(path(id));
    for (String same : List.of("/state", "/dueAt", "/params", "/tags/0", "/acceptedAt")) {
      assertThat(after.at(same)).as(same).isEqualTo(before.at(same));
    }

    api.delete(path(id));
    api.post(JOBS, job(id, "\"delay\":\"2h\""));
    Answer resubmitted = api.post(path(id) + "/restore", "");
    assertProblem(resubmitted, 409, "wrong-state");
    assertThat(resubmitted.at("/state")).isEqualTo("delayed");
    assertThat(resubmitted.at("/detail")).contains("submitted again");
  }

  @Test
  void aCancelThatCannotBeUndoneSaysWhy() {
    String params = "x".repeat(UndoLimits.BYTES);
    api.post(JOBS, job(id, "\"delay\":\"1h\",\"params\":\"" + params + "\""));
    api.delete(path(id));
    Answer large = api.post(path(id) + "/restore", "");
    assertProblem(large, 409, "wrong-state");
    assertThat(large.at("/state")).isEqualTo("cancelled");
    assertThat(large.at("/detail")).contains("too large to be kept", "65536 bytes");
  }

  @Test
  void whatIsNotKnownIsNotFound() {
    for (Answer answer :
        new Answer[] {
          api.get(path(id)),
          api.delete(path(id)),
          api.patch(path(id), "{\"delay\":1}"),
          api.post(path(id) + "/run", ""),
          api.post(path(id) + "/requeue", ""),
          api.post(path(id) + "/restore", ""),
          api.get("/api/v1/queues/nobody/nothing")
        }) {
      assertProblem(answer, 404, "not-found");
    }
  }

  @Test
  void onlyADeadLetterIsRequeued() {
    api.post(JOBS, job(id));

    Answer answer = api.post(path(id) + "/requeue", "");

    assertProblem(answer, 409, "wrong-state");
    assertThat(answer.at("/state")).isEqualTo("delayed");
  }

  @Test
  void queuesAreListedPageByPage() {
    for (String type : new String[] {"page.a", "page.b", "page.c"}) {
      api.post(JOBS, job(id).replace("order.close", type).replace("shop", "pages"));
    }

    Answer first = api.get("/api/v1/queues?limit=1&cursor=pages/page.a");
    assertThat(first.at("/items/0/taskType")).isEqualTo("page.b");
    assertThat(first.at("/items/0/delayed")).isEqualTo("1");
    assertThat(first.body().at("/items")).hasSize(1);
    assertThat(first.at("/nextCursor")).isEqualTo("pages/page.b");
    Answer second = api.get("/api/v1/queues?limit=1&cursor=" + first.at("/nextCursor"));
    assertThat(second.at("/items/0/taskType")).isEqualTo("page.c");
    assertThat(api.get("/api/v1/queues/pages/page.a").at("/application")).isEqualTo("pages");
  }

  @Test
  void pagesOfQueuesLeaveNoneOut() {
    Set<String> made = Set.of("paged/x", "paged-a/x", "paged.b/x", "paged/x-y", "paged/x.z");
    for (String queue : made) {
      String[] names = queue.split("/", -1);
      api.post(JOBS, job(id).replace("order.close", names[1]).replace("shop", names[0]));
    }
    List<String> seen = new ArrayList<>();
    String cursor = "page";
    while (!cursor.isEmpty()) {
      Answer page = api.get("/api/v1/queues?limit=1&cursor=" + cursor);
      page.body()
          .at("/items")
          .forEach(
              queue ->
                  seen.add(
                      queue.at("/application").asString()
                          + "/"
                          + queue.at("/taskType").asString()));
      cursor = page.at("/nextCursor");
    }
    assertThat(seen).containsAll(made).doesNotHaveDuplicates();
  }

  static Stream<Bad> bad() {
    return BadInputs.all();
  }

  @ParameterizedTest
  @MethodSource("bad")
  void badInputIsRefusedNamesTheFieldAndChangesNothing(Bad bad) {
    Map<String, String> before = StoreDump.of(connections, prefix);

    Answer answer =
        api.call("POST", JOBS, bad.contentType(), BodyPublishers.ofByteArray(bad.body()));

    assertProblem(answer, bad.status(), bad.code());
    if (bad.field() != null) {
      assertThat(answer.at("/errors/0/field")).isEqualTo(bad.field());
      assertThat(answer.at("/errors/0/detail"))
          .isNotBlank()
          .doesNotStartWith(".")
          .doesNotContain("ObjectNode", "Feature");
    }
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
    assertThat(api.post(JOBS, job(id)).status()).isEqualTo(201);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"jobs\":[]}", "{\"jobs\":{}}", "{}", "{\"jobs\":null}", "1001"})
  void aBatchOfNoneOrTooManyIsRefusedAsAWhole(String body) {
    Map<String, String> before = StoreDump.of(connections, prefix);

    Answer answer =
        api.post(JOBS + "/batch", body.equals("1001") ? "{\"jobs\":[" + jobs(1_001) + "]}" : body);

    assertProblem(answer, 400, "invalid");
    assertThat(answer.at("/errors/0/field")).isEqualTo("jobs");
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "",
        "{\"delay\":1,\"delayTime\":1}",
        "{\"delay\":-1}",
        "{\"delay\":1,\"taskId\":\"x\"}",
        "{\"params\":1}",
        "{\"params\":\"x\",\"tags\":[\"a b\"]}",
        "{\"headers\":{\"A\":\"x\"}}",
        "{\"retry\":\"soon\"}"
      })
  void aBadMoveChangesNothing(String body) {
    api.post(JOBS, job(id));
    Map<String, String> before = StoreDump.of(connections, prefix);

    assertProblem(api.patch(path(id), body), 400, "invalid");
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api/v1/jobs/shop/order.close/a%2Fb",
        "/api/v1/jobs/shop/order.close/%00",
        "/api/v1/jobs/shop/order.close/%2e%2e",
        "/api/v1/jobs/shop/order.close/a%20b",
        "/api/v1/jobs/shop/order.close/%7B%7D",
        "/api/v1/jobs/shop/order.close/%C3%28",
        "/api/v1/jobs/../../actuator/env",
        "/actuator/env",
        "/API/v1/jobs/shop/order.close/x",
        "//api/v1/jobs",
        "/api/v1/jobs/",
        "/nothing",
        "/error",
        "/api/v1/queues?limit=0",
        "/api/v1/queues?limit=-1",
        "/api/v1/queues?limit=2147483647",
        "/api/v1/queues?limit=x",
        "/api/v1/queues?limit=1&limit=2",
        "/api/v1/queues?limit=%00"
      })
  void oddPathsAndQueriesGetAProblemDocument(String target) {
    Answer answer = raw("GET", target);

    assertThat(answer.status()).isBetween(400, 499);
    assertProblem(answer, answer.status(), answer.status() == 404 ? "not-found" : "invalid");
  }

  @Test
  void onConflictIsReplaceOrNothing() {
    Answer answer = api.post(JOBS + "?onConflict=overwrite", job(id));

    assertProblem(answer, 400, "invalid");
    assertThat(answer.at("/errors/0/field")).isEqualTo("onConflict");
    assertProblem(api.get(path(id)), 404, "not-found");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "DELETE", "PROPFIND", "BREW", "TRACE"})
  void aMethodThatIsNotTakenIsNamedWithThoseThatAre(String method) {
    Answer answer = raw(method, JOBS);

    assertProblem(answer, 405, "method-not-allowed");
    assertThat(answer.header("Allow")).contains("POST").contains("GET");
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", "application/xml;q=0.9, image/*", "nonsense"})
  void aCallThatDoesNotTakeJsonChangesNothing(String accept) {
    Answer read = api.send("/api/v1/queues", request -> request.header("Accept", accept).GET());
    assertProblem(read, 406, "invalid");

    assertProblem(sent(JOBS, accept, job(id)), 406, "invalid");
    Answer added =
        sent(
            "/api/v1/command",
            accept,
            "{\"command\":\"add\",\"application\":\"shop\",\"topic\":\"order.close\",\"id\":\"%s\",\"delay\":60}"
                .formatted(id));

    assertThat(added.status()).isEqualTo(406);
    assertThat(added.at("/success")).isEqualTo("false");
    assertThat(added.at("/error")).contains("Accept");
    assertProblem(api.get(path(id)), 404, "not-found");
  }

  private Answer sent(String path, String accept, String body) {
    return api.send(
        path,
        request ->
            request
                .header("Accept", accept)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body)));
  }

  @Test
  void aMethodOverrideIsIgnored() {
    api.post(JOBS, job(id));

    api.send(path(id), request -> request.header("X-HTTP-Method-Override", "DELETE").GET());

    assertThat(api.get(path(id)).at("/state")).isEqualTo("delayed");
  }

  @Test
  void aBodyWithoutContentTypeIsRefused() {
    Answer answer = api.send(JOBS, request -> request.POST(BodyPublishers.ofString(job(id))));

    assertProblem(answer, 415, "unsupported-media-type");
  }

  @Test
  void aCompressedBodyIsRefused() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(job(id).getBytes(StandardCharsets.UTF_8));
    }

    Answer answer =
        api.send(
            JOBS,
            request ->
                request
                    .header("Content-Type", "application/json")
                    .header("Content-Encoding", "gzip")
                    .POST(BodyPublishers.ofByteArray(bytes.toByteArray())));

    assertProblem(answer, 415, "unsupported-media-type");
  }

  @Tag("full")
  @Test
  void aBodyThatIsTooLargeIsRefusedWhateverWayItComes() {
    byte[] large =
        job(id, "\"params\":\"" + "x".repeat(1_500_000) + "\"").getBytes(StandardCharsets.UTF_8);

    assertProblem(
        api.call("POST", JOBS, "application/json", BodyPublishers.ofByteArray(large)),
        413,
        "too-large");
    assertProblem(
        api.call(
            "POST",
            JOBS,
            "application/json",
            BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large))),
        413,
        "too-large");
  }

  @Test
  void aHugeBodyIsRefusedBeforeItIsSent() {
    Answer answer =
        ApiClient.raw(
            port,
            """
            POST /api/v1/jobs HTTP/1.1
            Host: localhost
            Content-Type: application/json
            Content-Length: 52428800
            Expect: 100-continue
            Connection: close

            """
                .replace("\n", "\r\n"));

    assertProblem(answer, 413, "too-large");
  }

  private static void assertProblem(Answer answer, int status, String code) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.contentType()).startsWith("application/problem+json");
    assertThat(answer.at("/code")).isEqualTo(code);
    assertThat(answer.at("/status")).isEqualTo(Integer.toString(status));
    assertThat(answer.at("/title")).isNotBlank();
    assertThat(answer.at("/detail")).isNotBlank();
    assertThat(answer.text())
        .doesNotContain("java.", "tools.jackson", "io.punctual", "Exception", "\tat ")
        .hasSizeLessThan(2_000);
  }

  private Answer raw(String method, String target) {
    return ApiClient.raw(
        port,
        method
            + " "
            + target
            + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  }

  private static String path(String taskId) {
    return JOBS + "/shop/order.close/" + taskId;
  }

  private static String job(String taskId) {
    return job(taskId, "\"delay\":\"1h\"");
  }

  private static String job(String taskId, String more) {
    return "{\"application\":\"shop\",\"taskType\":\"order.close\",\"taskId\":\"%s\",%s}"
        .formatted(taskId, more);
  }

  private String jobs(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> job(id + "-" + i))
        .collect(Collectors.joining(","));
  }
}
