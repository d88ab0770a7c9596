package io.punctual.client.callback;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.punctual.wire.CallbackSignature;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

/** Calls through a proxy that adds its headers, whatever the application's web server. */
abstract class ProxyContract {

  private static final CallbackSignature.Key KEY =
      CallbackSignature.Key.derived("5d0b2f8e6a914c7789e3c1f2a4b6d8e0", "shop");

  private static final WireMockServer PROXY =
      new WireMockServer(WireMockConfiguration.options().dynamicPort());

  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeAll
  static void startProxy() {
    PROXY.start();
  }

  @AfterEach
  void forget() {
    PROXY.resetAll();
  }

  @AfterAll
  static void stopProxy() {
    PROXY.stop();
  }

  /** Starts the shop of {@link CallbackContract} with the context path /ctx. */
  abstract ConfigurableApplicationContext start(String... options);

  private ConfigurableApplicationContext startShop(String... options) {
    return start(
        Stream.concat(
                Stream.of(
                    CallbackContract.NAME,
                    CallbackContract.NO_EUREKA,
                    "punctual.url=http://127.0.0.1:1",
                    "server.address=127.0.0.1",
                    "server.port=0"),
                Stream.of(options))
            .map(option -> "--" + option)
            .toArray(String[]::new));
  }

  @Test
  void aSignedCallRunsItsJob() throws Exception {
    try (ConfigurableApplicationContext shop =
        startShop(
            "server.forward-headers-strategy=framework",
            "punctual.callback.secrets=" + KEY.reveal())) {
      PROXY.stubFor(
          WireMock.any(WireMock.anyUrl())
              .willReturn(
                  to(shop)
                      .withAdditionalRequestHeader("X-Forwarded-For", "10.1.2.3")
                      .withAdditionalRequestHeader("X-Forwarded-Proto", "https")
                      .withAdditionalRequestHeader("X-Forwarded-Host", "shop.example")
                      .withAdditionalRequestHeader("X-Forwarded-Port", "443")));

      HttpResponse<String> answer = call("signed", true);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("\"outcome\":\"done\"");
      assertThat(seen(shop)).contains("signed");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"native", "framework"})
  void anUnsignedCallIsRefusedEvenIfItsCallerClaimsToBeOnThisMachine(String strategy)
      throws Exception {
    try (ConfigurableApplicationContext shop =
        startShop("server.forward-headers-strategy=" + strategy, CallbackContract.UNSIGNED)) {
      PROXY.stubFor(
          WireMock.any(WireMock.anyUrl())
              .willReturn(
                  to(shop)
                      .withAdditionalRequestHeader("X-Forwarded-For", "127.0.0.1, 10.1.2.3")
                      .withAdditionalRequestHeader("X-Forwarded-Proto", "http")
                      .withAdditionalRequestHeader("X-Forwarded-Host", "127.0.0.1")));

      HttpResponse<String> answer = call("unsigned", false);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(401);
      assertThat(answer.body()).contains("same machine only");
      assertThat(seen(shop)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"native", "framework", "none"})
  void anUnsignedCallIsRefusedWhateverTheOneHeaderOfTheProxy(String strategy) throws Exception {
    try (ConfigurableApplicationContext shop =
        startShop("server.forward-headers-strategy=" + strategy, CallbackContract.UNSIGNED)) {
      PROXY.stubFor(WireMock.any(WireMock.anyUrl()).willReturn(to(shop)));
      assertThat(call("direct", false).statusCode()).as("a call without a header").isEqualTo(200);

      for (String header :
          List.of(
              "X-Forwarded-For: 127.0.0.1",
              "X-Forwarded-Proto: http",
              "X-Forwarded-Host: 127.0.0.1",
              "Forwarded: for=127.0.0.1",
              "Via: 1.1 proxy")) {
        String[] parts = header.split(": ", 2);
        PROXY.resetAll();
        PROXY.stubFor(
            WireMock.any(WireMock.anyUrl())
                .willReturn(to(shop).withAdditionalRequestHeader(parts[0], parts[1])));

        HttpResponse<String> answer = call("unsigned", false);

        assertThat(answer.statusCode()).as(header + ": " + answer.body()).isEqualTo(401);
      }
      assertThat(seen(shop)).containsExactly("direct");
    }
  }

  private static ResponseDefinitionBuilder.ProxyResponseDefinitionBuilder to(
      ConfigurableApplicationContext shop) {
    String port = shop.getEnvironment().getRequiredProperty("local.server.port");
    return WireMock.aResponse().proxiedFrom("http://127.0.0.1:" + port);
  }

  private static Iterable<String> seen(ConfigurableApplicationContext shop) {
    return shop.getBean(CallbackContract.Shop.class).seen;
  }

  private HttpResponse<String> call(String params, boolean signed) throws Exception {
    String body = CallbackContract.request("shop", CallbackContract.job("record", params, 1));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(PROXY.baseUrl() + "/ctx/punctual/callback"))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (signed) {
      signature(body).forEach(request::header);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static Map<String, String> signature(String body) {
    Instant now = Instant.now();
    String id = "msg_" + now.toEpochMilli();
    String time = Long.toString(now.getEpochSecond());
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return Map.of(
        CallbackSignature.ID,
        id,
        CallbackSignature.TIMESTAMP,
        time,
        CallbackSignature.SIGNATURE,
        CallbackSignature.sign(List.of(KEY), id, time, bytes));
  }
}
