package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.redis.Ports;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * The whole system over TLS, mutual everywhere: registry, scheduler, workers that are pushed and
 * that pull, Redis.
 */
@Tag("full")
class TlsIT {

  private static final String SIGNING_KEY = "9c2d4e6f801f8a3b5c7d9e2f4a6b8c0d1e3f5a7b";
  // Of this machine, too; no certificate names it.
  private static final String OTHER_ADDRESS = "127.0.0.2";
  private static final String LOG = "redis.log";
  private static final Path DIRECTORY = SharedSystem.DIRECTORY.resolve("tls");

  private static Certificates authority;
  private static Programs programs;
  private static HttpClient known;
  private static Process redis;
  private static int redisPort;
  private static JavaProcess registry;
  private static JavaProcess scheduler;
  private static JavaProcess demo;

  @BeforeAll
  static void start() throws Exception {
    authority = new Certificates(DIRECTORY);
    authority.certify("punctual");
    SSLContext tls = authority.of("punctual");
    known = Http.client(tls);
    redisPort = Ports.free();
    redis = startRedis(redisPort);
    Waiting.until(
        "Redis answers",
        () -> {
          if (!redis.isAlive()) {
            throw new IllegalStateException("Redis ended; its log: " + DIRECTORY.resolve(LOG));
          }
          return ping(tls.getSocketFactory()).startsWith("+PONG");
        });

    programs = programs(authority);
    registry = programs.registry().start().awaitReady();
    scheduler =
        programs
            .scheduler(
                registry,
                redisPort,
                "tls",
                "--punctual.security.signing-keys=" + SIGNING_KEY,
                "--punctual.dispatch.ssl-bundle=punctual",
                "--spring.data.redis.ssl.bundle=punctual")
            .start();
    demo =
        programs
            .demo(
                registry,
                "--punctual.ssl-bundle=punctual",
                "--punctual.callback.secrets="
                    + CallbackSignature.Key.derived(SIGNING_KEY, "order-service").reveal())
            .start();
    scheduler.awaitReady();
    demo.awaitReady();
  }

  /** Programs that show a certificate of that authority, and trust it; the registry is ours. */
  private static Programs programs(Certificates theirs) {
    return new Programs(SharedSystem.DIRECTORY)
        .overTls(
            known,
            "--spring.ssl.bundle.jks.punctual.keystore.location=file:" + theirs.store("punctual"),
            "--spring.ssl.bundle.jks.punctual.keystore.password=" + Certificates.PASSWORD,
            "--spring.ssl.bundle.jks.punctual.keystore.type=PKCS12",
            "--spring.ssl.bundle.jks.punctual.truststore.location=file:" + theirs.trusted(),
            "--spring.ssl.bundle.jks.punctual.truststore.password=" + Certificates.PASSWORD,
            "--spring.ssl.bundle.jks.punctual.truststore.type=PKCS12",
            "--server.ssl.bundle=punctual",
            "--server.ssl.client-auth=need",
            "--eureka.client.tls.enabled=true",
            "--eureka.client.tls.key-store=file:" + authority.store("punctual"),
            "--eureka.client.tls.key-store-type=PKCS12",
            "--eureka.client.tls.key-store-password=" + Certificates.PASSWORD,
            "--eureka.client.tls.key-password=" + Certificates.PASSWORD,
            "--eureka.client.tls.trust-store=file:" + authority.trusted(),
            "--eureka.client.tls.trust-store-type=PKCS12",
            "--eureka.client.tls.trust-store-password=" + Certificates.PASSWORD);
  }

  private static Process startRedis(int port) throws IOException, GeneralSecurityException {
    ProcessBuilder builder =
        new ProcessBuilder(
            "redis-server",
            "--port",
            "0",
            "--tls-port",
            Integer.toString(port),
            "--bind",
            "127.0.0.1",
            OTHER_ADDRESS,
            "--tls-cert-file",
            authority.pem("punctual").toString(),
            "--tls-key-file",
            authority.pemKey("punctual").toString(),
            "--tls-ca-cert-file",
            authority.pem("ca").toString(),
            "--tls-auth-clients",
            "yes",
            "--appendonly",
            "yes",
            "--save",
            "",
            "--dir",
            Files.createDirectories(DIRECTORY.resolve("redis")).toAbsolutePath().toString());
    builder.redirectErrorStream(true).redirectOutput(DIRECTORY.resolve(LOG).toFile());
    try {
      Process started = builder.start();
      Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly, "end-redis"));
      return started;
    } catch (IOException e) {
      throw new IllegalStateException(
          "this test needs a redis-server on the PATH that speaks TLS; install one (Debian: apt-get"
              + " install redis-server)",
          e);
    }
  }

  @AfterAll
  static void stop() throws InterruptedException {
    for (JavaProcess process : new JavaProcess[] {demo, scheduler, registry}) {
      if (process != null) {
        process.close();
      }
    }
    if (redis != null) {
      redis.destroy();
      assertThat(redis.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void anUnpaidOrderClosesItself() throws Exception {
    Waiting.until(
        "the demo finds the scheduler, and the order is placed",
        () ->
            Http.post(known, demo.url() + "/orders", "{\"item\":\"tea\",\"payWithinSeconds\":1}")
                    .status()
                == 201);
    Http.Answer placed =
        Http.post(known, demo.url() + "/orders", "{\"item\":\"tea\",\"payWithinSeconds\":1}");
    assertThat(placed.status()).isEqualTo(201);
    String order = placed.json().get("id").stringValue();
    Waiting.until(
        "the order closes",
        () ->
            Http.get(known, demo.url() + "/orders/" + order)
                .json()
                .get("status")
                .stringValue()
                .equals("CLOSED"));
    Waiting.until("its job is finished", () -> isFinished("order-service/order.close/" + order));
    for (String application : List.of("punctual-scheduler", "order-service")) {
      JsonNode instance =
          Http.get(known, registry.url() + "/eureka/apps/" + application)
              .json()
              .at("/application/instance/0");
      assertThat(instance.at("/securePort/@enabled").asString()).isEqualTo("true");
      assertThat(instance.at("/port/@enabled").asString()).isEqualTo("false");
    }
  }

  @Test
  void aWorkerThatPullsFindsTheSchedulerInTheRegistry() throws Exception {
    Path record = DIRECTORY.resolve("pulling.record");
    try (JavaProcess worker =
        programs
            .worker(
                registry,
                "pulling",
                record,
                "--punctual.delivery=pull",
                "--punctual.ssl-bundle=punctual")
            .start()) {
      addJob("pulling");
      Waiting.until("it is done", () -> isFinished("pulling/job/1"));
      assertThat(worker.pid()).isPositive();
      assertThat(new ExecutionLog(record).executions()).hasSize(1);
    }
  }

  @Test
  void aWorkerWithACertificateOfAnotherAuthorityGetsNoJobAndCostsNoAttempt() throws Exception {
    Certificates strangers = new Certificates(DIRECTORY.resolve("impostor"));
    strangers.certify("punctual");
    Path record = DIRECTORY.resolve("impostor.record");
    try (JavaProcess worker = programs(strangers).worker(registry, "impostor", record).start()) {
      addJob("impostor");
      Waiting.until(
          "the doctor says why", () -> probed("impostor").equals("certificate-not-trusted"));
      assertThat(job("impostor/job/1").at("/attempts/counted").intValue()).isZero();
      assertThat(worker.pid()).isPositive();
      assertThat(new ExecutionLog(record).executions()).isEmpty();
      Waiting.until("the demo is reached", () -> probed("order-service").equals("reached"));
    }
  }

  private static String probed(String application) throws IOException {
    return Http.get(known, scheduler.url() + "/api/v1/workers?application=" + application)
        .json()
        .at("/items/0/probe/code")
        .asString("");
  }

  @Test
  void whoDoesNotTrustTheAuthorityOrHasNoCertificateOfItIsRefused() throws Exception {
    HttpClient withoutCertificate = Http.client(authority.trusting());
    Certificates strangers = new Certificates(DIRECTORY.resolve("strangers"));
    strangers.certify("punctual");
    for (JavaProcess process : List.of(registry, scheduler, demo)) {
      String url = process.url() + "/actuator/health";
      assertThat(Http.get(known, url).status()).isEqualTo(200);
      // The JVM's authorities do not include ours, nor do the strangers'.
      assertThatThrownBy(() -> Http.get(url)).isInstanceOf(SSLException.class);
      assertThatThrownBy(() -> Http.get(Http.client(strangers.of("punctual")), url))
          .isInstanceOf(SSLException.class);
      assertThatThrownBy(() -> Http.get(withoutCertificate, url)).isInstanceOf(IOException.class);
    }
    assertThatThrownBy(() -> ping(SSLSocketFactory.getDefault())).isInstanceOf(SSLException.class);
    assertThat(pinged(authority.trusting().getSocketFactory())).doesNotContain("PONG");
  }

  @Test
  void aRedisWhoseCertificateIsOfAnotherHostIsNotTrusted() throws Exception {
    try (JavaProcess other =
        programs
            .scheduler(
                registry,
                redisPort,
                "tls-other",
                "--spring.application.name=tls-other-scheduler",
                "--spring.data.redis.url=rediss://" + OTHER_ADDRESS + ":" + redisPort,
                "--spring.data.redis.ssl.bundle=punctual")
            .start()) {
      Waiting.until(
          "it says that the address is not in the certificate",
          () ->
              Files.readString(other.log())
                  .contains("No subject alternative names matching IP address " + OTHER_ADDRESS));
    }
  }

  @Test
  void theHealthTellsWhetherCertificatesAreGood() throws Exception {
    JsonNode health = Http.get(known, scheduler.url() + "/actuator/health").json();
    assertThat(health.at("/components/ssl/status").asString("")).isEqualTo("UP");
  }

  @Test
  void plainConnectionsAreRefused() throws Exception {
    for (JavaProcess process : List.of(registry, scheduler, demo)) {
      String health = "http://127.0.0.1:" + process.port() + "/actuator/health";
      assertThat(Http.get(health).status()).isEqualTo(400);
    }
    assertThat(pinged(SocketFactory.getDefault())).doesNotContain("PONG");
  }

  private static void addJob(String application) throws IOException {
    Http.Answer added =
        Http.post(
            known,
            scheduler.url() + "/api/v1/jobs",
            """
            {"application":"%s","taskType":"job","taskId":"1","delay":0,"params":"1 record"}"""
                .formatted(application));
    assertThat(added.status()).as(added.body()).isEqualTo(201);
  }

  private static boolean isFinished(String name) throws IOException {
    return job(name).get("state").stringValue().equals("finished");
  }

  private static JsonNode job(String name) throws IOException {
    return Http.get(known, scheduler.url() + "/api/v1/jobs/" + name).json();
  }

  /** What Redis says, or that it does not. */
  private static String pinged(SocketFactory sockets) {
    try {
      return ping(sockets);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static String ping(SocketFactory sockets) throws IOException {
    try (Socket socket = sockets.createSocket("127.0.0.1", redisPort)) {
      socket.setSoTimeout(5_000);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] answer = new byte[64];
      int length = socket.getInputStream().read(answer);
      return new String(answer, 0, Math.max(0, length), StandardCharsets.US_ASCII);
    }
  }
}
