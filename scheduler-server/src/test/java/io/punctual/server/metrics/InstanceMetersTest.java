package io.punctual.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.punctual.core.store.Settlement;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InstanceMetersTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final InstanceMeters meters = new InstanceMeters(registry, new MetricsProperties(1, 2));

  private void done(String id, @Nullable String release) {
    meters.ended(
        new WorkerInstance(
            id,
            "shop",
            URI.create("http://a:1/callback"),
            new WorkerMetadata(Set.of("job"), "/callback", WorkerMetadata.BATCH, 1, release),
            "eureka"),
        Settlement.Op.DONE);
  }

  private double count(String instance, String release) {
    Counter counter =
        registry
            .find("punctual.instance.attempts")
            .tags("instance", instance, "release", release, "outcome", "done")
            .counter();
    return counter == null ? -1 : counter.count();
  }

  @Test
  void theFirstInstancesHaveCountersOfTheirOwnUntilTheyHaveGone() {
    done("a", "1");
    done("b", null);
    done("c", "1");
    done("d", "2");
    assertThat(count("a", "1")).isOne();
    assertThat(count("b", "unknown")).isOne();
    assertThat(count("other", "other")).isEqualTo(2);
    assertThat(registry.getMeters()).hasSize(12);

    meters.gone("shop", "c");
    meters.gone("shop", "a");
    assertThat(registry.getMeters()).hasSize(8);
    done("d", "2");
    done("c", "1");
    assertThat(count("d", "2")).isOne();
    assertThat(count("other", "other")).isEqualTo(3);
  }

  @Test
  void ofAnInstanceTheLastTwoReleasesAreThere() {
    done("a", "1");
    done("a", "2");
    done("a", "1");
    assertThat(count("a", "1")).isEqualTo(2);
    assertThat(count("a", "2")).isOne();
    done("a", "3");
    assertThat(count("a", "1")).isEqualTo(-1);
    assertThat(count("a", "3")).isOne();
    assertThat(registry.getMeters()).hasSize(8);
    meters.gone("shop", "a");
    assertThat(registry.getMeters()).isEmpty();
  }
}
