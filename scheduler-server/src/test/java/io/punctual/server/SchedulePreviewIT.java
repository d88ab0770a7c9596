package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.SpringBootTest;

/** When a schedule would fire, before it is stored. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class SchedulePreviewIT extends SharedRedisTestBase {

  private Answer preview(String query, String json) {
    return api.post("/api/v1/schedules/preview" + query, json.replace('\'', '"'));
  }

  @Test
  void thePreviewSaysWhatBecomesOfTimesThatDoNotExist() {
    Answer answer =
        preview(
            "?preview=2&from=2027-03-28T00:00:00Z",
            "{'cron':'30 2 * * *','zone':'Europe/Berlin','exclude':['2027-03-29']}");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body().at("/preview")).hasSize(2);
    assertThat(answer.at("/preview/0/at")).isEqualTo("2027-03-28T01:30:00Z");
    assertThat(answer.at("/preview/0/note"))
        .isEqualTo("02:30 does not exist on 2027-03-28; moved by 1H");
    assertThat(answer.at("/preview/1/at")).isEqualTo("2027-03-30T00:30:00Z");
    assertThat(answer.body().at("/preview/1/note").isNull()).isTrue();
  }

  @Test
  void theDatesOfACalendarAreLeftOut() {
    String calendar = "preview-" + System.nanoTime();
    assertThat(
            api.call(
                    "PUT",
                    "/api/v1/calendars/" + calendar,
                    "application/json",
                    BodyPublishers.ofString("{\"dates\":[\"2027-03-29\"]}"))
                .status())
        .isEqualTo(201);
    Answer answer =
        preview(
            "?preview=2&from=2027-03-28T00:00:00Z",
            "{'cron':'30 2 * * *','exclude':['2027-03-28','" + calendar + "']}");

    assertThat(answer.at("/preview/0/at")).isEqualTo("2027-03-30T02:30:00Z");

    // What is there goes on without it, and is shown.
    String schedule = "/api/v1/schedules/shop/report." + calendar + "/daily";
    assertThat(
            api.call(
                    "PUT",
                    schedule,
                    "application/json",
                    BodyPublishers.ofString(
                        "{\"cron\":\"30 2 * * *\",\"exclude\":[\"" + calendar + "\"]}"))
                .status())
        .isEqualTo(201);
    assertThat(api.delete("/api/v1/calendars/" + calendar).status()).isEqualTo(200);
    Answer shown = api.get(schedule + "?preview=1&from=2027-03-29T00:00:00Z");
    assertThat(shown.at("/exclude/0")).isEqualTo(calendar);
    assertThat(shown.at("/preview/0/at")).isEqualTo("2027-03-29T02:30:00Z");
  }

  @Test
  void aPreviewBeginsNowAndHasTwentyInstants() {
    assertThat(preview("", "{'every':'1h'}").body().at("/preview")).hasSize(20);
    Answer anchored =
        preview(
            "?preview=1&from=2027-01-01T00:00:00Z",
            "{'every':'7d','anchor':'2027-05-01T09:00:00+02:00'}");
    assertThat(anchored.at("/preview/0/at")).isEqualTo("2027-05-01T07:00:00Z");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
      {}                                                  | cron       | give exactly one of cron and every
      {'cron':'@daily','every':'1h'}                      | cron       | give exactly one of cron and every
      {'cron':'* * * *'}                                  | cron       | but has 4
      {'cron':'61 * * * *'}                               | cron       | 61
      {'cron':'0 0 31 2 *'}                               | cron       | never fires
      {'cron':'30 2 * 3 SUNL','zone':'Europe/Berlin','gap':'skip'} | cron | never fires from
      {'cron':'@daily','until':'2020-01-01T00:00:00Z'}    | cron       | never fires from
      {'every':'10ms'}                                    | every      | between 1s and 3660d
      {'every':'1h','gap':'skip'}                         | gap        | belongs to cron
      {'cron':'@daily','anchor':'2027-01-01T00:00:00Z'}   | anchor     | belongs to every
      {'cron':'@daily','zone':'Europe/Berln'}             | zone       | IANA
      {'cron':'@daily','zone':'+02:00'}                   | zone       | IANA
      {'cron':'@daily','gap':'SHIFT'}                     | gap        | must be one of shift, skip
      {'cron':'@daily','fold':'none'}                     | fold       | must be one of first, last, both
      {'cron':'@daily','from':'2027-02-01T00:00:00Z','until':'2027-01-01T00:00:00Z'} | until | before from
      {'cron':'@daily','exclude':['2027-02-30']}          | exclude[0] | must be a date
      {'cron':'@daily','exclude':['a b']}                 | exclude[0] | or the name of a calendar
      {'cron':'@daily','exclude':['nowhere']}             | exclude    | PUT /api/v1/calendars/nowhere
      {'cron':'@daily','hour':3}                          | hour       | is not known here
      {'cron':5}                                          | cron       | must be a text in quotes
      """)
  void whatIsWrongIsNamed(String json, String field, String detail) {
    Answer answer = preview("", json);
    assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
    assertThat(answer.at("/errors/0/detail")).contains(detail);
  }

  @ParameterizedTest
  @CsvSource({"preview=0, preview", "preview=101, preview", "from=now, from"})
  void theQueryIsChecked(String query, String field) {
    Answer answer = preview("?" + query, "{'cron':'@daily'}");
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/errors/0/field")).isEqualTo(field);
  }
}
