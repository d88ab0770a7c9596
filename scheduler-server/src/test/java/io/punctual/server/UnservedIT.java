package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.registry.ServedTypes;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** A submit for an application or a task type that nobody runs is told so at once. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=UnservedIT"})
@Tag("full")
class UnservedIT extends SharedRedisTestBase {

  @Autowired private ServedTypes types;

  private final String id = UUID.randomUUID().toString();

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    instance(registry, "reminder-service", 0, 1, "batch");
  }

  private String job(String application, String type) {
    return "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
        .formatted(application, type, id);
  }

  private Answer submit(String application, String type) {
    return api.post("/api/v1/jobs", job(application, type));
  }

  @Test
  void theNearestNameIsTold() {
    Answer typo = submit("remindr-service", "order.close");
    assertThat(typo.status()).isEqualTo(201);
    assertThat(typo.at("/served")).isEqualTo("false");
    assertThat(typo.at("/hint"))
        .isEqualTo(
            "no instance of remindr-service is registered, and no program has fetched order.close"
                + " from this scheduler in the last 10 minutes. Did you mean reminder-service? The"
                + " job is stored and waits for a worker.");
    assertThat(submit("reminder-service", "order.clsoe").at("/hint"))
        .startsWith(
            "no instance of reminder-service runs order.clsoe, and no program has fetched order.clsoe"
                + " from this scheduler")
        .contains("Did you mean order.close?");
    assertThat(submit("billing", "invoice").at("/hint"))
        .startsWith("no instance of billing is registered, and no program has fetched invoice");

    Answer served = submit("reminder-service", "order.close");
    assertThat(served.body().has("served")).isFalse();
    assertThat(served.body().has("hint")).isFalse();
  }

  @Test
  void anApplicationIsToldNoNameOfAnother() {
    QueueName typo = new QueueName("remindr-service", "order.close");
    assertThat(types.meant(typo, true)).isEqualTo(new ServedTypes.Meant(null, "reminder-service"));
    assertThat(types.meant(typo, false)).isNull();
    assertThat(types.meant(new QueueName("reminder-service", "order.clsoe"), false))
        .isEqualTo(new ServedTypes.Meant("order.clsoe", "order.close"));
  }

  @Test
  void eachJobOfABatchHasItsHint() {
    Answer batch =
        api.post(
            "/api/v1/jobs/batch",
            "{\"jobs\":["
                + job("reminder-service", "order.close")
                + ","
                + job("reminder-service", "order.closed")
                + "]}");
    assertThat(batch.body().at("/results/0").has("served")).isFalse();
    assertThat(batch.at("/results/1/served")).isEqualTo("false");
    assertThat(batch.at("/results/1/hint")).contains("Did you mean order.close?");
  }

  @Test
  void aTypeThatAWorkerFetchesIsServed() {
    assertThat(submit("fetching", "mail").at("/served")).isEqualTo("false");
    api.post("/api/v1/claims", "{\"application\":\"fetching\",\"taskTypes\":[\"mail\"]}");
    assertThat(submit("fetching", "mail").body().has("served")).isFalse();
  }

  @Test
  void aTypeThatAWorkerFetchesIsTheNearestName() {
    api.post("/api/v1/claims", "{\"application\":\"mailer\",\"taskTypes\":[\"mail.send\"]}");
    assertThat(submit("mailer", "mail.snd").at("/hint"))
        .startsWith(
            "no instance of mailer is registered, and no program has fetched mail.snd from this"
                + " scheduler in the last 10 minutes. Did you mean mail.send?");
    assertThat(submit("mailr", "mail.send").at("/hint"))
        .startsWith("no instance of mailr is registered, and no program has fetched mail.send")
        .contains("Did you mean mailer?");
    api.post(
        "/api/v1/claims", "{\"application\":\"reminder-service\",\"taskTypes\":[\"sms.send\"]}");
    assertThat(submit("reminder-service", "sms.sned").at("/hint"))
        .startsWith(
            "no instance of reminder-service runs sms.sned, and no program has fetched sms.sned")
        .contains("Did you mean sms.send?");
  }
}
