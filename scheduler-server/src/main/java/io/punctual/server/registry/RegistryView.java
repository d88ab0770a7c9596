package io.punctual.server.registry;

import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** How old the view of the registry is. It is used all the same: see {@link WorkerDirectory}. */
@Component
@ConditionalOnProperty(name = "eureka.client.enabled", matchIfMissing = true)
public class RegistryView {

  private volatile long fetchedAt = System.nanoTime();

  /** The registry's client has fetched it. */
  @EventListener(HeartbeatEvent.class)
  void fetched() {
    fetchedAt = System.nanoTime();
  }

  /** Since it was fetched, or since the start. */
  public Duration age() {
    return Duration.ofNanos(System.nanoTime() - fetchedAt);
  }
}
