package io.punctual.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.core.store.Settlement;
import io.punctual.server.dispatch.AttemptListener;
import io.punctual.server.registry.WorkerInstance;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Counts the attempts of each instance, by its release. The first so many instances have counters
 * of their own, until they have gone.
 */
@Component
@ConditionalOnPunctualMetrics
final class InstanceMeters implements AttemptListener {

  private static final Instance OTHER = new Instance("other", "other");
  // An instance that starts again with another release: attempts of the one before may still end.
  private static final int RELEASES = 2;
  private static final List<Settlement.Op> OUTCOMES =
      List.of(
          Settlement.Op.DONE, Settlement.Op.FAILED, Settlement.Op.REJECTED, Settlement.Op.UNKNOWN);

  private record Instance(String application, String id) {}

  private final MeterRegistry registry;
  private final int max;
  // By release, in the order in which they came; copied when there is another one.
  private final Map<Instance, Map<String, Map<Settlement.Op, Counter>>> named =
      new ConcurrentHashMap<>();
  private volatile @Nullable Map<Settlement.Op, Counter> others;

  InstanceMeters(MeterRegistry registry, MetricsProperties properties) {
    this.registry = registry;
    this.max = properties.instances();
  }

  @Override
  public void ended(WorkerInstance instance, Settlement.Op how) {
    Instance name = new Instance(instance.application(), instance.id());
    String release = Objects.requireNonNullElse(instance.metadata().release(), "unknown");
    Map<String, Map<Settlement.Op, Counter>> releases = named.get(name);
    Map<Settlement.Op, Counter> counters = releases == null ? null : releases.get(release);
    if (counters == null && releases == null && named.size() >= max) {
      counters = others;
    }
    Objects.requireNonNull((counters == null ? add(name, release) : counters).get(how)).increment();
  }

  private synchronized Map<Settlement.Op, Counter> add(Instance name, String release) {
    Map<String, Map<Settlement.Op, Counter>> before = named.get(name);
    if (before == null && named.size() >= max) {
      Map<Settlement.Op, Counter> known = others;
      Map<Settlement.Op, Counter> made = known == null ? counters(OTHER, "other") : known;
      others = made;
      return made;
    }
    Map<String, Map<Settlement.Op, Counter>> releases = new LinkedHashMap<>();
    if (before != null) {
      releases.putAll(before);
    }
    Map<Settlement.Op, Counter> counters =
        releases.computeIfAbsent(release, any -> counters(name, release));
    if (releases.size() > RELEASES) {
      remove(releases.remove(releases.keySet().iterator().next()));
    }
    named.put(name, releases);
    return counters;
  }

  // All of them at once, at zero: a rate must not miss the first attempt.
  private Map<Settlement.Op, Counter> counters(Instance name, String release) {
    Map<Settlement.Op, Counter> counters = new EnumMap<>(Settlement.Op.class);
    for (Settlement.Op outcome : OUTCOMES) {
      counters.put(
          outcome,
          Counter.builder("punctual.instance.attempts")
              .description("Attempts that have ended, by the instance that had them")
              .tag("application", name.application())
              .tag("instance", name.id())
              .tag("release", release)
              .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
              .register(registry));
    }
    return counters;
  }

  private void remove(@Nullable Map<Settlement.Op, Counter> counters) {
    if (counters != null) {
      counters.values().forEach(registry::remove);
    }
  }

  @Override
  public synchronized void gone(String application, String instance) {
    Map<String, Map<Settlement.Op, Counter>> releases =
        named.remove(new Instance(application, instance));
    if (releases != null) {
      releases.values().forEach(this::remove);
    }
  }
}
