package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.registry.WorkerDirectory.Unusable;
import io.punctual.wire.WorkerMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;

/** Whatever one entry of the registry is, the others are seen. */
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
class WorkerDirectoryTest {

  private final FakeRegistry registry = new FakeRegistry();
  private final WorkerDirectory directory =
      new WorkerDirectory(List.of(new RegistrySource("eureka", registry)), false);

  private static DefaultServiceInstance instance(
      String application, String id, String host, String path) {
    return new DefaultServiceInstance(
        id,
        application,
        host,
        8080,
        false,
        Map.of("punctual.task-types", "t", "punctual.callback-path", path));
  }

  private static DefaultServiceInstance well(String application, String id) {
    return instance(application, id, "127.0.0.1", "/" + id);
  }

  private List<String> seen(String application) {
    return directory.instances(application).stream().map(WorkerInstance::id).toList();
  }

  /** What it runs, how many at once. */
  private String says(String application) {
    WorkerMetadata metadata = directory.instances(application).get(0).metadata();
    return metadata.taskTypes() + " " + metadata.concurrency();
  }

  private static DefaultServiceInstance withCallback(String path) {
    return new DefaultServiceInstance(
        "one", "shop", "127.0.0.1", 8080, false, Map.of("punctual-callback", path));
  }

  @Test
  void whatAnInstanceSaysCountsUntilItIsRegisteredAnew() {
    registry.set("shop", withCallback("/callback"));
    WorkerInstance registered = directory.instances("shop").get(0);
    assertThat(registered.callback()).hasToString("http://127.0.0.1:8080/callback");
    assertThat(registered.metadata().protocol()).isEqualTo(WorkerMetadata.BATCH);
    assertThat(directory.instances("shop", "order.close")).isEmpty();

    directory.said(
        registered,
        new WorkerMetadata(Set.of("order.close"), "/callback", WorkerMetadata.BATCH, 7));
    directory.refresh();
    assertThat(says("shop")).isEqualTo("[order.close] 7");
    assertThat(directory.instances("shop", "order.close")).hasSize(1);
    assertThat(directory.all()).isEqualTo(directory.instances("shop"));

    registry.set("shop", withCallback("/other"));
    directory.refresh();
    assertThat(says("shop")).isEqualTo("[] 100");
    registry.set("shop", withCallback("/callback"));
    directory.refresh();
    assertThat(says("shop")).isEqualTo("[] 100");
  }

  /** It says so with each renewal, within bounds. */
  @Test
  void whoRegistersAtTheSchedulerIsAsItRegistered() {
    WorkerDirectory own =
        new WorkerDirectory(List.of(new RegistrySource(RegisteredSource.NAME, registry)), false);
    registry.set("shop", well("shop", "one"));
    own.said(
        own.instances("shop").get(0),
        new WorkerMetadata(Set.of("other"), "/one", WorkerMetadata.BATCH, 7));
    own.refresh();

    assertThat(own.instances("shop", "t")).hasSize(1);
    assertThat(own.instances("shop", "other")).isEmpty();
  }

  @Test
  void whatAnInstanceSaidIsForgottenWhenItIsGone() {
    registry.set("shop", withCallback("/callback"));
    directory.said(
        directory.instances("shop").get(0),
        new WorkerMetadata(Set.of("order.close"), "/callback", WorkerMetadata.BATCH, 7));
    registry.set("shop");
    directory.retain(directory::all);

    registry.set("shop", withCallback("/callback"));
    directory.refresh();
    assertThat(says("shop")).isEqualTo("[] 100");
  }

  @Test
  void lettersThatAreOursInAnotherCaseMakeNoOtherName() {
    registry.set(
        "order-service",
        well("order-\u017fervice", "long-s"),
        well("ORDER-SERVICE", "upper"),
        well("other", "other"));
    registry.set("book", well("boo\u212a", "kelvin"));

    assertThat(seen("order-service")).containsExactly("upper");
    assertThat(seen("book")).isEmpty();
  }

  @Test
  void oneEntryHidesNoOther(CapturedOutput output) {
    List<String> applications = List.of("billing", "users", "mailer", "invoices", "stock", "zebra");
    applications.forEach(name -> registry.set(name, well(name, "old")));
    registry.set("order-service", well("order-service", "good"));
    applications.forEach(name -> assertThat(seen(name)).containsExactly("old"));
    assertThat(seen("order-service")).containsExactly("good");

    registry.set(
        "order-service",
        instance("order-service", "bad", "127.0.0.1", "/a".repeat(20_000)),
        new DefaultServiceInstance("worse", "order-service", "127.0.0.1", 8080, false) {
          @Override
          public Map<String, String> getMetadata() {
            throw new StackOverflowError("first\nsecond");
          }
        },
        well("order-service", "good"));
    applications.forEach(name -> registry.set(name, well(name, "new")));
    for (int i = 0; i < 3; i++) {
      directory.refresh();
    }

    applications.forEach(name -> assertThat(seen(name)).containsExactly("new"));
    assertThat(seen("order-service")).containsExactly("good");
    assertThat(directory.all()).extracting(WorkerInstance::application).hasSize(7);
    assertThat(directory.unusable())
        .allMatch(one -> one.application().equals("order-service"))
        .extracting(Unusable::instance)
        .containsExactlyInAnyOrder("bad", "worse");
    assertThat(output.getAll().lines().filter(line -> line.contains("Instance bad of")))
        .hasSize(1)
        .allMatch(line -> line.contains("punctual.callback-path") && line.length() < 1_000);
    assertThat(output.getAll().lines().filter(line -> line.contains("Instance worse of")))
        .hasSize(1)
        .allMatch(line -> line.contains("first?second"));

    registry.set("order-service", well("order-service", "good"));
    directory.refresh();
    assertThat(directory.unusable()).isEmpty();
  }

  @Test
  void whereTlsIsRequiredAnEntryForHttpGetsNoJobs() {
    WorkerDirectory strict =
        new WorkerDirectory(List.of(new RegistrySource("eureka", registry)), true);
    DefaultServiceInstance secure =
        new DefaultServiceInstance(
            "secure",
            "shop",
            "shop.example",
            8443,
            true,
            Map.of("punctual.task-types", "t", "punctual.callback-path", "/secure"));
    registry.set("shop", well("shop", "plain"), secure);

    assertThat(strict.instances("shop")).extracting(WorkerInstance::id).containsExactly("secure");
    assertThat(strict.unusable())
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.instance()).isEqualTo("plain");
              assertThat(entry.reason()).contains("punctual.dispatch.require-tls");
            });
    WorkerDirectory other =
        new WorkerDirectory(List.of(new RegistrySource("zookeeper", registry)), true);
    assertThat(other.instances("shop")).hasSize(1);
    assertThat(other.unusable())
        .singleElement()
        .satisfies(
            entry ->
                assertThat(entry.reason())
                    .contains("spring.cloud.zookeeper.discovery.instance-ssl-port")
                    .doesNotContain("eureka"));
    assertThat(seen("shop")).containsExactly("plain", "secure");
  }

  @Test
  void aSourceThatCannotBeReadHidesNoOther() {
    FakeRegistry other = new FakeRegistry();
    registry.set("a", well("a", "here"));
    other.set("b", well("b", "there"));
    WorkerDirectory both =
        new WorkerDirectory(
            List.of(new RegistrySource("eureka", registry), new RegistrySource("other", other)),
            false);
    assertThat(both.instances("a")).hasSize(1);
    assertThat(both.all()).extracting(WorkerInstance::id).containsExactly("here", "there");

    registry.broken = "*";
    assertThat(both.all()).extracting(WorkerInstance::id).containsExactly("here", "there");
  }

  @Test
  void anApplicationThatCannotBeReadHidesNoOther() {
    registry.set("a", well("a", "old"));
    registry.set("b", well("b", "old"));
    assertThat(seen("a")).containsExactly("old");
    assertThat(seen("b")).containsExactly("old");

    registry.broken = "a";
    registry.set("b", well("b", "new"));
    directory.refresh();

    assertThat(seen("a")).containsExactly("old");
    assertThat(seen("b")).containsExactly("new");
    assertThat(directory.all()).extracting(WorkerInstance::id).containsExactly("old", "new");

    registry.broken = "c";
    assertThat(seen("c")).isEmpty();
    registry.set("c", well("c", "new"));
    registry.broken = null;
    directory.refresh();
    assertThat(seen("c")).containsExactly("new");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[::ffff:127.0.0.1]:28091/evil/../admin?q=",
        "127.0.0.1/latest/meta?x=",
        "user:pw@127.0.0.1",
        "127.0.0.1?x",
        "127.0.0.1#",
        "127.0.0.1%0d%0aX:y",
        "\"><script>"
      })
  void theHostSetsNoOtherPartOfTheUrl(String host) {
    registry.set("shop", instance("shop", "s", host, "/cb"), well("shop", "good"));
    assertThat(seen("shop")).containsExactly("good");
    assertThat(directory.unusable()).singleElement().matches(one -> one.reason().contains("host"));
  }

  @Test
  void noNameInTheRegistryWritesALineOfItsOwn(CapturedOutput output) {
    String forged = "x\n2026-01-01T00:00:00Z INFO punctual.audit : alice did purge to shop/a\u2028";
    registry.set(
        forged, well(forged, "a"), instance(forged, forged, "127.0.0.1", "/a"), well(forged, "b"));
    registry.set(
        "shop",
        instance("shop", forged, "127.0.0.1", "/a"),
        instance("shop", "host", forged, "/a"),
        instance("shop", "path", "127.0.0.1", forged));
    assertThat(directory.all()).isEmpty();

    assertThat(directory.unusable()).hasSize(6);
    assertThat(output.getAll()).doesNotContain("\n2026-01-01", "\u2028");
    assertThat(directory.unusable().toString()).doesNotContain("\n", "\u2028");
  }

  @Test
  void aThousandBadEntriesAreNoThousandLines(CapturedOutput output) {
    List<ServiceInstance> bad = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      bad.add(instance("shop", "bad-" + i, "no host", "/a"));
    }
    bad.add(well("shop", "good"));
    registry.set("shop", bad.toArray(ServiceInstance[]::new));

    assertThat(seen("shop")).containsExactly("good");
    directory.refresh();

    assertThat(output.getAll().lines().filter(line -> line.contains("bad-")).count())
        .isBetween(10L, 100L);
    assertThat(directory.unusable().size()).isBetween(100, 1_000);
  }
}
