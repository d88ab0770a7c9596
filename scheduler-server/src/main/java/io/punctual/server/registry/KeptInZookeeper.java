package io.punctual.server.registry;

import io.punctual.internal.KeptRegistration;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceInstance;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperRegistration;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperServiceRegistry;
import org.springframework.util.ReflectionUtils;

/**
 * Keeps this scheduler in ZooKeeper. Curator registers it at each new connection; an entry that is
 * lost otherwise, or was never taken, is registered here.
 */
@SuppressWarnings("unchecked") // Spring Cloud's getStatus returns Object.
final class KeptInZookeeper extends ZookeeperServiceRegistry implements Kept {

  private static final Logger log = LoggerFactory.getLogger(KeptInZookeeper.class);

  private final ServiceDiscovery<ZookeeperInstance> discovery;
  private volatile @Nullable KeptRegistration kept;

  KeptInZookeeper(ServiceDiscovery<ZookeeperInstance> discovery) {
    super(discovery);
    this.discovery = discovery;
  }

  @Override
  public void register(ZookeeperRegistration registration) {
    ServiceInstance<ZookeeperInstance> entry = registration.getServiceInstance();
    KeptRegistration begun =
        new KeptRegistration(
            new KeptRegistration.Client() {
              @Override
              public void register() throws Exception {
                discovery.registerService(entry);
              }

              @Override
              public boolean isRegistered() throws Exception {
                return discovery.queryForInstance(entry.getName(), entry.getId()) != null;
              }

              @Override
              public void deregister() throws Exception {
                discovery.unregisterService(entry);
              }
            },
            new KeptRegistration.Texts(
                "ZooKeeper",
                "this scheduler",
                "applications",
                "spring.cloud.zookeeper.connect-string"),
            log::warn,
            log::info);
    KeptRegistration before = kept;
    if (before != null) {
      before.end();
    }
    kept = begun;
    begun.start();
  }

  @Override
  public String registry() {
    return "ZooKeeper";
  }

  @Override
  public void leave() throws Exception {
    KeptRegistration ended = kept;
    kept = null;
    if (ended != null) {
      ended.stop();
    }
  }

  @Override
  public void deregister(ZookeeperRegistration registration) {
    try {
      leave();
    } catch (Exception e) {
      ReflectionUtils.rethrowRuntimeException(e);
    }
  }
}
