package io.punctual.client.registration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class SchedulerRegistrationTest {

  private static final String PUT = "PUT /api/v1/workers/shop/10.0.0.7%3A8081";
  private static final String DELETE = "DELETE /api/v1/workers/shop/10.0.0.7%3A8081";

  private final Queue<String> calls = new ConcurrentLinkedQueue<>();
  private final Queue<String> bodies = new ConcurrentLinkedQueue<>();
  private final Queue<String> removed = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile int status = 201;
  private volatile String detail = "url must not be called";
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private HttpServer scheduler;
  private SchedulerCalls client;

  @BeforeEach
  void start() throws IOException {
    scheduler = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    scheduler.setExecutor(threads);
    scheduler.createContext(
        "/",
        exchange -> {
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          calls.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath());
          if (exchange.getRequestMethod().equals("DELETE")) {
            removed.add(exchange.getRequestURI().getRawQuery());
          }
          await(gate);
          byte[] answer =
              (status < 300 ? "{\"renewAfter\":1}" : "{\"detail\":\"" + detail + "\"}")
                  .getBytes(UTF_8);
          exchange.sendResponseHeaders(status, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    scheduler.start();
    client = client(List.of(URI.create("http://127.0.0.1:" + scheduler.getAddress().getPort())));
  }

  private static void await(CountDownLatch gate) {
    try {
      assertThat(gate.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static SchedulerCalls client(List<URI> schedulers) {
    return new SchedulerCalls(
        new SchedulerLocator(() -> schedulers),
        new Jackson3Json(),
        Duration.ofSeconds(1),
        null,
        builder -> {});
  }

  @AfterEach
  void stop() {
    client.close();
    scheduler.stop(0);
    threads.shutdownNow();
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(20));
  }

  private static WorkerMetadata metadata(String... types) {
    return new WorkerMetadata(Set.of(types), "/ctx/callback", WorkerMetadata.BATCH, 7, "2.14.0");
  }

  private SchedulerRegistration registration(String... types) {
    return at("http://10.0.0.7:8081/ctx/callback", types);
  }

  private SchedulerRegistration at(String address, String... types) {
    return new SchedulerRegistration(
        new ClientIdentity("shop"), client, () -> metadata(types), URI.create(address));
  }

  @Test
  void registersRenewsAndDeregisters() {
    SchedulerRegistration registration = registration("order.remind", "order.close");
    assertThat(registration.advertised()).isNull();

    registration.register();
    assertThat(registration.error()).isNotNull();
    eventually().until(() -> calls.size() >= 2);
    assertThat(registration.error()).isNull();
    registration.deregister();

    assertThat(calls.stream().filter(call -> !call.equals(PUT))).containsExactly(DELETE);
    assertThat(calls).last().isEqualTo(DELETE);
    assertThat(bodies.peek())
        .contains("\"url\":\"http://10.0.0.7:8081/ctx/callback\"")
        .contains("\"taskTypes\":[\"order.close\",\"order.remind\"]")
        .contains("\"concurrency\":7", "\"protocol\":\"batch\"", "\"ttl\":\"30s\"")
        .contains("\"release\":\"2.14.0\"");
    // Also for calls that come while it leaves.
    assertThat(registration.advertised())
        .isEqualTo(
            new AdvertisedCallback(
                "10.0.0.7:8081", URI.create("http://10.0.0.7:8081/ctx/callback")));
  }

  @Test
  void registersAgainIfTheContextIsRestarted() {
    SchedulerRegistration registration = registration("t");
    registration.register();
    eventually().until(() -> !calls.isEmpty());
    registration.deregister();
    calls.clear();

    registration.register();
    eventually().until(() -> calls.contains(PUT));
    registration.deregister();
    registration.deregister();

    assertThat(calls.stream().filter(DELETE::equals)).hasSize(1);
  }

  @Test
  void aRenewalInFlightDoesNotRestoreADeregisteredInstance() {
    SchedulerRegistration registration = registration("t");
    gate = new CountDownLatch(1);
    registration.register();
    eventually().until(() -> calls.contains(PUT));

    CompletableFuture<Void> left = CompletableFuture.runAsync(registration::deregister, threads);
    gate.countDown();
    left.join();

    assertThat(calls).last().isEqualTo(DELETE);
  }

  @Test
  void theErrorIsClearedByASuccessfulRegistration(CapturedOutput output) {
    status = 400;
    SchedulerRegistration registration = registration("t");
    registration.register();
    awaitError(
        registration,
        "a scheduler refused instance 10.0.0.7:8081: HTTP 400: url must not be called");
    assertThat(registration.remedy())
        .isEqualTo(
            "Set punctual.callback.url to an address at which schedulers reach this instance. Or"
                + " allow the address at the schedulers (punctual.dispatch.allowed-networks).");

    status = 200;
    eventually().until(() -> registration.error() == null);
    assertThat(registration.remedy())
        .isEqualTo(
            "A scheduler accepted the registration, but another one does not know it. All"
                + " schedulers in punctual.url must use the same Redis.");
    assertThat(output)
        .contains(
            "WARN",
            "Punctual: instance 10.0.0.7:8081 of shop is not registered: a scheduler refused",
            "HTTP 400: url must not be called. Schedulers give it no jobs. Set"
                + " punctual.callback.url");

    status = 403;
    detail = "token is not of shop";
    eventually().until(() -> registration.error() != null);
    registration.deregister();
    assertThat(output)
        .contains(
            "instance 10.0.0.7:8081 of shop is not renewed: a scheduler refused instance"
                + " 10.0.0.7:8081: HTTP 403: token is not of shop. Schedulers drop it 30 s after"
                + " the last renewal. Set punctual.token");
  }

  private static void awaitError(SchedulerRegistration registration, String error) {
    eventually().untilAsserted(() -> assertThat(registration.error()).isEqualTo(error));
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 405})
  void anOlderSchedulerMustBeUpgraded(int status) {
    this.status = status;
    detail = "";
    SchedulerRegistration registration = registration("t");
    registration.register();
    awaitError(
        registration,
        "a scheduler refused instance 10.0.0.7:8081: HTTP "
            + status
            + ". It is older or takes no registrations");
    registration.deregister();

    assertThat(registration.remedy()).isEqualTo("Upgrade all schedulers.");
  }

  @Test
  void aRefusalWithoutAReasonNamesTheUrlToCheck() {
    status = 302;
    detail = "";
    SchedulerRegistration registration = registration("t");
    registration.register();
    awaitError(registration, "a scheduler refused instance 10.0.0.7:8081: HTTP 302");
    registration.deregister();

    assertThat(registration.remedy())
        .isEqualTo("Check that punctual.url is the address of a scheduler.");
  }

  @Test
  void noSchedulerIsAnErrorWithARemedy() {
    SchedulerRegistration registration = atLocalAddress(List.of());
    registration.register();
    awaitError(registration, "no scheduler is known");
    registration.deregister();

    assertThat(registration.remedy())
        .isEqualTo(
            "Set punctual.url to the schedulers (a DNS name there must have addresses), or register"
                + " them in the registry.");
  }

  @Test
  void anUnknownSchedulerIsNamedWithoutItsPassword() {
    SchedulerRegistration registration =
        atLocalAddress(List.of(URI.create("http://user:secret@no-such-host.invalid:8080")));
    registration.register();
    awaitError(
        registration,
        "no local address for callbacks was found: http://***@no-such-host.invalid:8080 (unknown"
            + " host)");
    registration.deregister();

    assertThat(registration.remedy()).startsWith("Correct punctual.url, or set");
  }

  private static SchedulerRegistration atLocalAddress(List<URI> schedulers) {
    return SchedulerRegistration.atLocalAddress(
        new ClientIdentity("shop"),
        client(schedulers),
        () -> metadata("t"),
        host -> URI.create("http://" + host + ":8081"));
  }

  @Test
  void deregistersWithoutAnExceptionIfNoSchedulerAnswers() {
    scheduler.stop(0);
    SchedulerRegistration registration = registration("t");
    registration.register();
    eventually()
        .until(
            () ->
                String.valueOf(registration.error()).contains("no scheduler accepts connections"));

    registration.deregister();
  }

  @Test
  void anInstanceWithoutTaskTypesIsNotRegistered() {
    SchedulerRegistration registration = registration();
    registration.register();
    registration.deregister();

    assertThat(calls).isEmpty();
    assertThat(registration.advertised()).isNull();
  }

  @Test
  void changedTaskTypesAreRegisteredAtOnceAndWithoutAnyTheRegistrationIsRemoved() {
    AtomicReference<WorkerMetadata> now = new AtomicReference<>(metadata());
    SchedulerRegistration registration =
        new SchedulerRegistration(
            new ClientIdentity("shop"),
            client,
            now::get,
            URI.create("http://10.0.0.7:8081/ctx/callback"));
    registration.update();
    registration.register();
    assertThat(calls).isEmpty();

    now.set(metadata("first"));
    registration.update();
    eventually().until(() -> bodies.stream().anyMatch(body -> body.contains("[\"first\"]")));
    now.set(metadata("first", "second"));
    registration.update();
    Awaitility.await()
        .atMost(Duration.ofMillis(900)) // A renewal comes after a second at the earliest.
        .until(() -> bodies.stream().anyMatch(body -> body.contains("[\"first\",\"second\"]")));

    now.set(metadata());
    registration.update();
    eventually().until(() -> removed.size() == 1);
    now.set(metadata("third"));
    registration.update();
    eventually().until(() -> bodies.stream().anyMatch(body -> body.contains("[\"third\"]")));
    String session = removed.iterator().next().substring("session=".length());
    assertThat(bodies)
        .filteredOn(body -> body.contains("[\"third\"]"))
        .noneMatch(body -> body.contains(session));
    registration.deregister();
    int before = calls.size();
    registration.update();
    assertThat(calls).hasSize(before);
  }

  @Test
  void registersTheLocalAddressOnTheRouteToAScheduler() {
    SchedulerRegistration registration =
        SchedulerRegistration.atLocalAddress(
            new ClientIdentity("shop"),
            client,
            () -> metadata("t"),
            host -> URI.create("https://" + host + ":8443"));
    registration.register();
    eventually().until(() -> !calls.isEmpty());
    registration.deregister();

    assertThat(registration.advertised())
        .isEqualTo(
            new AdvertisedCallback(
                "127.0.0.1:8443", URI.create("https://127.0.0.1:8443/ctx/callback")));
  }

  @ParameterizedTest
  @CsvSource({
    "https://shop-1.example/cb, shop-1.example:443, https://shop-1.example:443/cb",
    "HTTP://shop-1.example/cb, shop-1.example:80, http://shop-1.example:80/cb",
    "http://[::1]:8081/cb, [::1]:8081, http://[::1]:8081/cb"
  })
  void addsTheDefaultPortToTheAddress(String given, String instance, String address) {
    SchedulerRegistration registration = at(given, "t");
    registration.register();
    eventually().until(() -> registration.advertised() != null);
    registration.deregister();

    assertThat(registration.advertised())
        .isEqualTo(new AdvertisedCallback(instance, URI.create(address)));
  }

  @ParameterizedTest
  @CsvSource({
    "/cb, /cb, scheme",
    "mailto:x, mailto:x, scheme",
    "ftp://h/cb, ftp://h/cb, scheme",
    "http://user:secret@h/cb, http://***@h/cb, user",
    "http://my_host:8081/cb, http://my_host:8081/cb, underscore",
    "http://h/a%2Fb, http://h/a%2Fb, path",
    "http://h, http://h, path",
    "http://h/cb?x=secret, http://h/cb?***, query",
    "http://h/cb#x, http://h/cb#***, fragment"
  })
  void rejectsAnInvalidAddressAndNamesItsPart(String address, String shown, String part) {
    assertThatThrownBy(() -> at(address, "t"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("such as http://10.0.0.7:8081/punctual/callback, but was '")
        .hasMessageContaining("'" + shown + "': ")
        .message()
        .doesNotContain("secret")
        .satisfies(text -> assertThat(text.substring(text.lastIndexOf("': "))).contains(part));
  }

  @Test
  void deregistersTheOldAddressIfTheAddressChanges() {
    Queue<String> hosts = new ConcurrentLinkedQueue<>(List.of("10.0.0.7", "10.0.0.8"));
    SchedulerRegistration registration =
        SchedulerRegistration.atLocalAddress(
            new ClientIdentity("shop"),
            client,
            () -> metadata("t"),
            any ->
                URI.create("http://" + (hosts.size() > 1 ? hosts.poll() : hosts.peek()) + ":8081"));
    registration.register();
    eventually().until(() -> calls.contains(PUT.replace("10.0.0.7", "10.0.0.8")));
    registration.deregister();

    assertThat(calls)
        .startsWith(PUT, DELETE, PUT.replace("10.0.0.7", "10.0.0.8"))
        .endsWith(DELETE.replace("10.0.0.7", "10.0.0.8"));
  }

  @Test
  void anUnknownPortIsReportedWithARemedy() {
    SchedulerRegistration registration =
        SchedulerRegistration.atLocalAddress(
            new ClientIdentity("shop"),
            client,
            () -> metadata("t"),
            host -> {
              throw new IllegalStateException("the port is not known");
            });
    registration.register();
    awaitError(registration, "the port is not known");
    assertThat(registration.remedy()).startsWith("Set punctual.callback.url");
    registration.deregister();

    assertThat(calls).isEmpty();
  }

  @Test
  void prefersOtherLocalAddressesToLoopback() {
    // Of this machine, if it has another one.
    String other = LocalAddress.towards(List.of(URI.create("http://192.0.2.1")));
    String expected = other == null ? "127.0.0.1" : other;
    URI near = URI.create("http://127.0.0.1:8080");
    URI far = URI.create("http://192.0.2.1:8080");

    assertThat(LocalAddress.towards(List.of(near, far))).isEqualTo(expected);
    assertThat(LocalAddress.towards(List.of(far, near))).isEqualTo(expected);
    assertThat(LocalAddress.towards(List.of(near))).isEqualTo("127.0.0.1");
  }

  /** Else a run that stops would remove the one that began at its address. */
  @Test
  void eachRunHasASessionOfItsOwn() {
    SchedulerRegistration registration = registration("t");
    for (int run = 0; run < 2; run++) {
      calls.clear();
      registration.register();
      eventually().until(() -> calls.size() >= 2);
      registration.deregister();
    }

    List<String> sessions =
        bodies.stream()
            .filter(body -> !body.isEmpty())
            .map(body -> body.replaceFirst("(?s).*\"session\":\"(.*?)\".*", "session=$1"))
            .distinct()
            .toList();
    assertThat(sessions).hasSize(2);
    assertThat(removed).containsExactlyElementsOf(sessions);
  }

  @Test
  void putsAnIpv6AddressInBrackets() {
    assertThat(LocalAddress.towards(List.of(URI.create("http://[::1]:8080"))))
        .isIn("[0:0:0:0:0:0:0:1]", null);
    assertThat(
            LocalAddress.towards(
                List.of(URI.create("http://no-such-host.invalid"), URI.create("http://127.0.0.1"))))
        .isEqualTo("127.0.0.1");
  }
}
