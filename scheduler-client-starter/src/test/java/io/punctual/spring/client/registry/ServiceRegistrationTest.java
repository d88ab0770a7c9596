package io.punctual.spring.client.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.discovery.event.InstancePreRegisteredEvent;
import org.springframework.cloud.client.discovery.event.InstanceRegisteredEvent;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;

/** The callback in a registry of which only Spring Cloud's common types are known. */
class ServiceRegistrationTest {

  private final OurServiceRegistry registry = new OurServiceRegistry();
  private final Set<String> types = ConcurrentHashMap.newKeySet();
  private final ServiceRegistration registration =
      new ServiceRegistration(
          registry,
          new CommonDialect(ServiceRegistration.name(registry)),
          () -> new WorkerMetadata(types, "/ctx/callback", WorkerMetadata.BATCH, 10));

  @BeforeEach
  void aWorker() {
    types.add("order.close");
  }

  private static final class Entry extends DefaultServiceInstance implements Registration {
    Entry(Map<String, String> metadata) {
      super("shop-1", "shop", "10.0.0.7", 8081, false, metadata);
    }
  }

  private static final class OurServiceRegistry implements ServiceRegistry<Entry>, KeptRegistry {
    volatile @Nullable String problem;
    volatile @Nullable RuntimeException refusal;
    final List<String> calls = new CopyOnWriteArrayList<>();
    CountDownLatch stands = new CountDownLatch(0);

    @Override
    public void register(Entry registration) {
      if (refusal != null) {
        throw refusal;
      }
      calls.add("register " + registration.getMetadata());
    }

    @Override
    public void deregister(Entry registration) {
      try {
        stands.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      calls.add("deregister");
    }

    @Override
    public @Nullable String problem() {
      return problem;
    }

    @Override
    public void close() {}

    @Override
    public void setStatus(Entry registration, String status) {}

    @Override
    public <T> T getStatus(Entry registration) {
      throw new UnsupportedOperationException();
    }
  }

  private Entry enter(Map<String, String> metadata) {
    Entry entry = new Entry(metadata);
    registration.publish(new InstancePreRegisteredEvent(this, entry));
    registration.registered(new InstanceRegisteredEvent<>(this, entry));
    return entry;
  }

  @Test
  void theCallbackIsInTheMetadataBeforeTheInstanceIsRegistered() {
    Entry entry = new Entry(new HashMap<>());
    assertThat(registration.advertised()).isNull();
    assertThat(registration.error()).isEqualTo("Spring Cloud has not registered it in our yet");

    registration.publish(new InstancePreRegisteredEvent(this, entry));
    assertThat(entry.getMetadata())
        .containsExactly(Map.entry("punctual-callback", "/ctx/callback"));

    registration.registered(new InstanceRegisteredEvent<>(this, entry));
    assertThat(registration.error()).isNull();
    assertThat(registration.advertised())
        .isEqualTo(
            new AdvertisedCallback("shop-1", URI.create("http://10.0.0.7:8081/ctx/callback")));
    assertThat(registration.remedy()).contains("(our)", "punctual.registration=scheduler");
  }

  @Test
  void anInstanceThatRunsNothingIsNoWorkerUntilItGetsItsFirstOne() {
    types.clear();
    Entry entry = enter(new HashMap<>());
    registration.update();
    assertThat(entry.getMetadata()).isEmpty();

    types.add("order.close");
    registration.update();
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(registry.calls)
                    .containsExactly("register {punctual-callback=/ctx/callback}"));
    types.add("order.remind");
    registration.update();
    assertThat(registry.calls).hasSize(1);
    assertThat(registration.error()).isNull();
  }

  @Test
  void aWorkerThatIsAddedWhileSpringCloudRegistersIsPublishedAfterwards() {
    types.clear();
    Entry entry = new Entry(new HashMap<>());
    registration.publish(new InstancePreRegisteredEvent(this, entry));
    types.add("order.close");
    registration.update();
    assertThat(entry.getMetadata()).isEmpty();

    registration.registered(new InstanceRegisteredEvent<>(this, entry));
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(registry.calls)
                    .containsExactly("register {punctual-callback=/ctx/callback}"));
  }

  @Test
  void aRegistryThatRefusesTheFirstWorkerIsAnErrorUntilItTakesIt() {
    types.clear();
    enter(new HashMap<>());
    registry.refusal = new IllegalStateException("HTTP 403");
    types.add("order.close");
    registration.update();

    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(registration.error())
                    .isEqualTo(
                        "our refused its callback (java.lang.IllegalStateException: HTTP 403)"));

    registry.refusal = null;
    Awaitility.await().untilAsserted(() -> assertThat(registration.error()).isNull());
    assertThat(registry.calls).contains("register {punctual-callback=/ctx/callback}");
  }

  @Test
  void metadataThatCannotBeChangedAreAnError() {
    enter(Map.of());

    assertThat(registration.error())
        .isEqualTo("the metadata of its registration in our cannot be changed");
  }

  @Test
  void anEntryThatTheRegistryDoesNotShowIsAnError() {
    enter(new HashMap<>());
    registry.problem = "our had lost it";

    assertThat(registration.error()).isEqualTo("our had lost it");
  }

  @Test
  void anInstanceLeavesOnceAndMayComeBack() {
    registration.deregister();
    enter(new HashMap<>());
    registration.register();
    assertThat(registry.calls).isEmpty();

    registration.deregister();
    registration.deregister();
    registration.register();
    registration.deregister();

    assertThat(registry.calls)
        .containsExactly("deregister", "register {punctual-callback=/ctx/callback}", "deregister");
  }

  @Tag("full")
  @Test
  void aRegistryThatStandsStillIsNotWaitedFor() {
    enter(new HashMap<>());
    registry.stands = new CountDownLatch(1);

    assertThatThrownBy(registration::deregister)
        .hasMessage("our did not answer the deregistration within 5 s");
    registry.stands.countDown();
  }
}
