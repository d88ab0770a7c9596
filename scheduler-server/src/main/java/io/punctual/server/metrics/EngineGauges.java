package io.punctual.server.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.punctual.core.Engine;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.server.dispatch.DispatchState;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.registry.RegistryContact;
import java.util.function.ToDoubleFunction;
import org.springframework.stereotype.Component;

/** Whether the scheduler's parts are well, from what it knows at any time. */
@Component
@ConditionalOnPunctualMetrics
final class EngineGauges implements MeterBinder {

  private static final String IN_USE = "What calls, pulls and deliveries under way take; 0 at rest";

  private final Engine engine;
  private final HttpDispatcher dispatcher;
  private final RegistryContact registryContact;

  EngineGauges(Engine engine, HttpDispatcher dispatcher, RegistryContact registryContact) {
    this.engine = engine;
    this.dispatcher = dispatcher;
    this.registryContact = registryContact;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("punctual.store.up", engine, e -> e.storeHealth().error() == null ? 1 : 0)
        .description("1 while the store answers")
        .register(registry);
    Gauge.builder("punctual.store.sound", engine, e -> e.storeHealth().isBad() ? 0 : 1)
        .description("0 where jobs were lost or may be lost at any moment, or nothing works")
        .register(registry);
    Gauge.builder("punctual.store.memory.used.ratio", engine, EngineGauges::memoryShare)
        .description("The used share of maxmemory; of several nodes, that of the fullest")
        .register(registry);
    Gauge.builder("punctual.scanners", engine, e -> e.scanners().running())
        .tag("state", "running")
        .description("Scanners, one for each bucket of each queue")
        .register(registry);
    Gauge.builder("punctual.scanners", engine, e -> e.scanners().ended().size())
        .tag("state", "ended")
        .description("Scanners, one for each bucket of each queue")
        .register(registry);
    Gauge.builder("punctual.queues.damaged", engine, e -> e.scanners().damaged().size())
        .description("Queues of which a key in the store has a foreign type")
        .register(registry);
    Gauge.builder("punctual.in.use", engine, e -> e.inUse().size())
        .tag("what", "engine")
        .description(IN_USE)
        .register(registry);
    inUse(registry, "deliveries", DispatchState::inFlight);
    inUse(registry, "suspects", DispatchState::waiting);
    inUse(registry, "answer_bytes", DispatchState::answerBytes);
    if (!registryContact.views().isEmpty()) {
      Gauge.builder("punctual.registry.view.age", registryContact, EngineGauges::viewAge)
          .baseUnit("seconds")
          .description("Since the registry was read; of several, the one that was read longest ago")
          .register(registry);
    }
  }

  private static double memoryShare(Engine engine) {
    return engine.storeHealth().nodes().stream()
        .mapToDouble(StoreNode::memoryShare)
        .filter(share -> !Double.isNaN(share))
        .max()
        .orElse(Double.NaN);
  }

  private static double viewAge(RegistryContact registry) {
    return registry.views().stream().mapToDouble(v -> v.silence().toNanos() / 1e9).max().orElse(0);
  }

  private void inUse(MeterRegistry registry, String what, ToDoubleFunction<DispatchState> amount) {
    Gauge.builder("punctual.in.use", dispatcher, d -> amount.applyAsDouble(d.inMemory()))
        .tag("what", what)
        .description(IN_USE)
        .register(registry);
  }
}
