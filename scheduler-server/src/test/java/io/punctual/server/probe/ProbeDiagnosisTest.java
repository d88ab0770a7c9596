package io.punctual.server.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.callback.CallFailure;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.probe.ProbeResult.Code;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.security.cert.CertificateException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;

/** What WorkerProbeIT can not show with real servers, or not for each address. */
class ProbeDiagnosisTest {

  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

  private static WorkerInstance instance(String address, String protocol) {
    return instance(address, protocol, "eureka");
  }

  private static WorkerInstance instance(String address, String protocol, String source) {
    return new WorkerInstance(
        "shop-1",
        "shop",
        URI.create(address + "/punctual/callback"),
        new WorkerMetadata(Set.of("order.close"), "/punctual/callback", protocol, 10),
        source);
  }

  private ProbeResult failed(String address, CallFailure failure, @Nullable Throwable cause) {
    return ProbeDiagnosis.of(
            instance(address, "batch"), new PingResult.NoAnswer(failure, cause, false), NOW)
        .result();
  }

  private ProbeResult failed(String address, Throwable cause) {
    return failed(address, CallFailure.TLS, cause);
  }

  private ProbeResult answered(
      String protocol, int status, Map<String, List<String>> headers, String body) {
    return found(instance("http://shop:8080", protocol), status, headers, body).result();
  }

  private static ProbeDiagnosis.Finding found(
      WorkerInstance instance, int status, Map<String, List<String>> headers, String body) {
    return found(instance, status, headers, body, PingResult.Signature.NOT_WANTED);
  }

  private static ProbeDiagnosis.Finding found(
      WorkerInstance instance,
      int status,
      Map<String, List<String>> headers,
      String body,
      PingResult.Signature signature) {
    return ProbeDiagnosis.of(
        instance,
        new PingResult.Answered(
            status, HttpHeaders.of(headers, (name, value) -> true), body, signature, false, NOW),
        NOW);
  }

  private static WorkerInstance registered(String type) {
    return new WorkerInstance(
        "shop-1",
        "shop",
        URI.create("http://shop:8080/callback"),
        new WorkerMetadata(
            type.isEmpty() ? Set.of() : Set.of(type), "/callback", WorkerMetadata.BATCH, 10),
        "other");
  }

  private static ProbeDiagnosis.Finding pinged(String type, String more) {
    String line = "{\"application\":\"shop\",\"time\":" + NOW.toEpochMilli() + more + "}\n";
    return found(registered(type), 200, Map.of(), line);
  }

  @Test
  void whatAnInstanceSaysItselfCounts() {
    ProbeDiagnosis.Finding found =
        pinged("before", ",\"taskTypes\":[\"a\",\"b\"],\"concurrency\":3");

    assertThat(found.result().code()).isEqualTo(Code.REACHED);
    assertThat(found.says())
        .isEqualTo(new WorkerMetadata(Set.of("a", "b"), "/callback", WorkerMetadata.BATCH, 3));
  }

  /** A stranger gets no jobs of a type by an answer at an instance's address. */
  @ParameterizedTest
  @CsvSource({
    "shop, WRONG, ANSWER_OF_ANOTHER_KEY",
    "shop, MISSING, ANSWER_NOT_SIGNED",
    "bank, RIGHT, OTHER_APPLICATION",
    "bank, NOT_WANTED, OTHER_APPLICATION"
  })
  void whatIsNotProvenDoesNotCount(
      String application, PingResult.Signature signature, Code expected) {
    String line =
        "{\"application\":\"%s\",\"time\":%d,\"taskTypes\":[\"mine\"]}\n"
            .formatted(application, NOW.toEpochMilli());
    ProbeDiagnosis.Finding found = found(registered(""), 200, Map.of(), line, signature);

    assertThat(found.result().code()).isEqualTo(expected);
    assertThat(found.says()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "204, RIGHT, REACHED, with the application's signature",
    "404, RIGHT, REACHED, HTTP 404",
    "204, WRONG, ANSWER_OF_ANOTHER_KEY, key for the address http://shop:8080/punctual/callback",
    "204, MISSING, ANSWER_NOT_SIGNED, is sent no jobs",
    "404, MISSING, ANSWER_NOT_SIGNED, HTTP 404",
    "204, NOT_WANTED, REACHED, takes POST"
  })
  void inTheSingleProtocolTheSignatureIsOverTheAddress(
      int status, PingResult.Signature signature, Code expected, String message) {
    ProbeResult result =
        found(instance("http://shop:8080", "single"), status, Map.of(), "", signature).result();

    assertThat(result.code()).isEqualTo(expected);
    assertThat(result.message()).contains(message);
  }

  @Test
  void anEmptyAnswerTakesBackWhatWasSaid() {
    assertThat(found(registered("before"), 200, Map.of(), "").says())
        .isEqualTo(registered("before").registered());
  }

  @Test
  void anInstanceOfTheSingleProtocolHasItsTypesInTheRegistry() {
    WorkerInstance instance =
        new WorkerInstance(
            "shop-1",
            "shop",
            URI.create("http://shop:8080/callback"),
            new WorkerMetadata(Set.of(), "/callback", WorkerMetadata.SINGLE, 10),
            "other");
    assertThat(found(instance, 204, Map.of("Allow", List.of("POST")), "").result().code())
        .isEqualTo(Code.NO_TASK_TYPES);
  }

  @Test
  void whatAnInstanceDoesNotSayIsAsItIsRegistered() {
    ProbeDiagnosis.Finding found = pinged("before", "");

    assertThat(found.result().code()).isEqualTo(Code.REACHED);
    assertThat(found.says())
        .isEqualTo(new WorkerMetadata(Set.of("before"), "/callback", WorkerMetadata.BATCH, 10));
  }

  @Test
  void anInstanceOfWhichNobodySaysWhatItRunsIsAProblem() {
    assertThat(pinged("", "").result().code()).isEqualTo(Code.NO_TASK_TYPES);
    assertThat(pinged("", ",\"taskTypes\":[]").result().code()).isEqualTo(Code.REACHED);
    // An empty answer, as programs give that know no more of pings.
    assertThat(found(registered(""), 200, Map.of(), "").result().code())
        .isEqualTo(Code.NO_TASK_TYPES);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",\"taskTypes\":[\"a b\"]",
        ",\"taskTypes\":[null]",
        ",\"concurrency\":0",
        ",\"concurrency\":10001"
      })
  void whatMakesNoSenseIsNoAnswer(String more) {
    ProbeDiagnosis.Finding found = pinged("before", more);

    assertThat(found.result().code()).isEqualTo(Code.NOT_A_CALLBACK);
    assertThat(found.says()).isNull();
  }

  private static SSLHandshakeException handshake(Throwable cause) {
    SSLHandshakeException e = new SSLHandshakeException(cause.getMessage());
    e.initCause(cause);
    return e;
  }

  @Test
  void theCertificateOfAnotherNameIsNoQuestionOfTrust() {
    ProbeResult result =
        failed(
            "https://shop:8443",
            handshake(new CertificateException("No name matching shop found")));
    assertThat(result.code()).isEqualTo(Code.CERTIFICATE_OF_ANOTHER_NAME);
    assertThat(result.message()).contains("shop:8443", "No name matching shop found");
    assertThat(result.remedy()).contains("eureka.instance.hostname");
    assertThat(
            failed(
                    "https://10.0.0.7:8443",
                    handshake(
                        new CertificateException(
                            "No subject alternative names matching IP address 10.0.0.7 found")))
                .code())
        .isEqualTo(Code.CERTIFICATE_OF_ANOTHER_NAME);
  }

  @Test
  void ofARedirectOnlyAShortOriginIsTold() {
    String host = "h".repeat(16_000);
    ProbeResult result =
        answered("batch", 308, Map.of("Location", List.of("https://" + host + "/secret")), "");

    assertThat(result.code()).isEqualTo(Code.REDIRECTED);
    assertThat(result.message()).hasSizeLessThan(400).contains("https://hhh");
  }

  @Test
  void whoWantsOurCertificateIsToldOf() {
    ProbeResult result =
        failed(
            "https://shop:8443",
            new SSLHandshakeException("Received fatal alert: certificate_required"));
    assertThat(result.code()).isEqualTo(Code.TLS_FAILED);
    assertThat(result.remedy()).contains("punctual.dispatch.ssl-bundle", "keystore");
  }

  @ParameterizedTest
  @CsvSource({
    "http://172.17.0.3:8081, true",
    "http://172.31.255.1:8081, true",
    "http://172.32.0.3:8081, false",
    "http://3f2b9c1d04e7:8081, true",
    "http://192.168.1.20:8081, false",
    "http://shop.internal:8081, false"
  })
  void theAddressOfAContainerLooksLikeOne(String address, boolean container) {
    for (CallFailure failure : List.of(CallFailure.TIMED_OUT, CallFailure.REFUSED)) {
      String remedy = String.valueOf(failed(address, failure, null).remedy());
      assertThat(remedy.contains("container, which only its own network knows"))
          .isEqualTo(container);
      assertThat(remedy).contains("eureka.instance.hostname", "punctual.delivery=pull");
    }
  }

  @Test
  void aSchedulerOnTheSameMachineMayBeAllowedToCallIt() {
    ProbeResult result =
        ProbeDiagnosis.of(
                instance("http://127.0.0.1:8081", "batch"),
                new PingResult.NotCalled("127.0.0.1 is 127.0.0.1, which is not called"),
                NOW)
            .result();
    assertThat(result.code()).isEqualTo(Code.ADDRESS_NOT_ALLOWED);
    assertThat(result.remedy())
        .contains("eureka.instance.hostname", "127.0.0.0/8", "punctual.dispatch.allowed-networks");
  }

  @ParameterizedTest
  @CsvSource({
    "Sat%2C 21 Nov 2026 12:00:20 GMT, UNPROVEN, 20000",
    "Sat%2C 21 Nov 2026 12:00:31 GMT, CLOCK_OFF, 31000",
    "Sat%2C 21 Nov 2026 12:02:00 GMT, CLOCK_OFF, 120000",
    "Sat%2C 21 Nov 2026 11:58:00 GMT, CLOCK_OFF, -120000",
    "yesterday, UNPROVEN, "
  })
  void theClockOfAWorkerInAnyLanguageIsInItsDateHeader(String date, Code code, Long ahead) {
    ProbeResult result =
        answered("single", 404, Map.of("Date", List.of(date.replace("%2C", ","))), "");
    assertThat(result.code()).isEqualTo(code);
    assertThat(result.clockAheadMs()).isEqualTo(ahead);
  }

  @Test
  void aWorkerThatTakesAPingForLateHasAClockThatIsAhead() {
    ProbeResult result =
        answered(
            "batch",
            421,
            Map.of(
                "Punctual-Refusal", List.of("late"),
                "Date", List.of("Sat, 21 Nov 2026 12:02:00 GMT")),
            "");
    assertThat(result.code()).isEqualTo(Code.CLOCKS_APART);
    assertThat(result.clockAheadMs()).isEqualTo(120_000);
    assertThat(result.remedy()).contains("NTP", "30 s ahead");
    assertThat(result.remedyText()).isNotNull();
    assertThat(result.remedyText().in(Locale.SIMPLIFIED_CHINESE))
        .startsWith("请用 NTP")
        .contains("30 秒");
  }

  @ParameterizedTest
  @CsvSource({
    "eureka, Set eureka.instance.hostname in the worker",
    "scheduler, Set punctual.callback.url in the worker",
    "consul, Set spring.cloud.consul.discovery.hostname in the worker",
    "nacos, Set spring.cloud.nacos.discovery.ip in the worker",
    "kubernetes, Schedulers call the addresses in the endpoints of the worker's service",
    "simple, The worker's registry must show an address"
  })
  void theRemedyNamesWhatIsSetWhereTheInstanceIsRegistered(String source, String remedy) {
    WorkerInstance instance = instance("http://shop:8080", "batch", source);
    for (CallFailure failure : CallFailure.values()) {
      String text =
          ProbeDiagnosis.of(instance, new PingResult.NoAnswer(failure, null, false), NOW)
              .result()
              .remedy();
      assertThat(text).doesNotContain("{");
      if (!source.equals("eureka")) {
        assertThat(text).doesNotContain("eureka.");
      }
    }
    assertThat(
            ProbeDiagnosis.of(
                    instance, new PingResult.NoAnswer(CallFailure.NO_ROUTE, null, false), NOW)
                .result()
                .remedy())
        .startsWith(remedy);
  }

  @Test
  void whatStrangersSayStaysOnOneLine() {
    ProbeResult result =
        answered(
            "batch",
            401,
            Map.of("Punctual-Refusal", List.of("clock")),
            "late\r\n2026-11-21T16:00:00Z INFO forged\u001b[31m" + "x".repeat(5_000));
    assertThat(result.code()).isEqualTo(Code.CLOCKS_APART);
    assertThat(result.message()).hasSizeLessThan(400).doesNotContain("\r", "\n", "\u001b");
  }

  @ParameterizedTest
  @CsvSource({
    "401, , UNPROVEN",
    "401, Basic, LOGIN_IN_FRONT",
    "400, , UNPROVEN",
    "204, , REACHED",
    "501, , UNPROVEN",
    "500, , SERVER_ERROR",
    "421, , OTHER_APPLICATION"
  })
  void aWorkerThatVerifiesSignaturesMayRefuseAnOption(int status, String asks, Code code) {
    Map<String, List<String>> headers =
        asks == null ? Map.of() : Map.of("WWW-Authenticate", List.of(asks));
    assertThat(answered("single", status, headers, "").code()).isEqualTo(code);
  }

  @Test
  void nonsenseIsNoAnswerToAPing() {
    for (String body : List.of("null", "[]", "{", "\"x\"", "{\"time\":1}", "{\"application\":1}")) {
      assertThat(answered("batch", 200, Map.of(), body + "\n").code())
          .as(body)
          .isEqualTo(Code.NOT_A_CALLBACK);
    }
    assertThat(failed("http://shop:8080", CallFailure.NOT_HTTP, null).code())
        .isEqualTo(Code.NOT_HTTP);
  }

  @Test
  void eachPlaceholderOfTheTextsHasAValueAndEachCodeAMessage() throws IOException {
    Properties texts =
        PropertiesLoaderUtils.loadProperties(
            new ClassPathResource("diagnoses.properties", ProbeDiagnosis.class));
    Set<String> known = new HashSet<>(texts.stringPropertyNames());
    known.addAll(
        List.of(
            "detail",
            "host",
            "authority",
            "path",
            "application",
            "url",
            "hint",
            "status",
            "to",
            "seconds"));
    Map<String, Set<String>> ends = new HashMap<>();
    for (String name : texts.stringPropertyNames()) {
      Matcher end =
          Pattern.compile("(.*)\\.(eureka|zookeeper|consul|nacos|kubernetes|scheduler|other)")
              .matcher(name);
      if (end.matches()) {
        known.add(end.group(1));
        ends.computeIfAbsent(end.group(1), key -> new HashSet<>()).add(end.group(2));
      }
    }
    assertThat(ends.values()).isNotEmpty().allMatch(end -> end.size() == 7);
    for (Object text : texts.values()) {
      assertThat(Pattern.compile("\\{([^}]*)}").matcher(text.toString()).results())
          .allMatch(found -> known.contains(found.group(1)), text.toString());
    }
    assertThat(Arrays.stream(Code.values()).map(code -> code.word() + ".message"))
        .allMatch(known::contains);
  }

  @Test
  void whatStrangersSayHasNoPlaceholders() {
    assertThat(answered("batch", 421, Map.of(), "{application} {port}").message())
        .isEqualTo("HTTP 421: {application} {port}");
  }
}
