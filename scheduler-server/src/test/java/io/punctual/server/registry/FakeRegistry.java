package io.punctual.server.registry;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

/** A registry whose entries a test sets. */
public final class FakeRegistry implements DiscoveryClient {

  private final Map<String, List<ServiceInstance>> instances = new ConcurrentSkipListMap<>();
  private final AtomicInteger reads = new AtomicInteger();
  @Nullable volatile String broken;

  /** Sets the instances of an application. */
  public void set(String application, ServiceInstance... all) {
    instances.put(application, List.of(all));
  }

  /** Returns how often the applications were read. */
  public int reads() {
    return reads.get();
  }

  @Override
  public String description() {
    return "of a test";
  }

  @Override
  public List<ServiceInstance> getInstances(String application) {
    if (application.equals(broken)) {
      throw new StackOverflowError("of " + application);
    }
    return instances.getOrDefault(application, List.of());
  }

  @Override
  public List<String> getServices() {
    reads.incrementAndGet();
    if ("*".equals(broken)) {
      throw new IllegalStateException("no answer");
    }
    return List.copyOf(instances.keySet());
  }
}
