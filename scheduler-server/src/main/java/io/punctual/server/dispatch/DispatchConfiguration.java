package io.punctual.server.dispatch;

import io.punctual.core.store.InstanceMarks;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.registry.SchedulerName;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.security.SecurityProperties;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/** Makes what finds and calls workers. */
@Configuration(proxyBeanMethods = false)
class DispatchConfiguration {

  @Bean
  WorkerDirectory workerDirectory(DiscoveryClient discovery, DispatchProperties properties) {
    return new WorkerDirectory(discovery, properties.requireTls());
  }

  /** Tests have shorter ones. */
  @Bean
  @Fallback
  DispatchTimes dispatchTimes() {
    return new DispatchTimes(Duration.ofSeconds(1), Duration.ofSeconds(3), Duration.ofSeconds(5));
  }

  @Bean
  HttpDispatcher dispatcher(
      WorkerDirectory workers,
      DispatchProperties properties,
      DispatchTimes times,
      SecurityProperties security,
      SslBundles bundles,
      InstanceMarks marks,
      Environment environment) {
    String bundle = properties.sslBundle();
    return new HttpDispatcher(
        SchedulerName.of(environment),
        workers,
        times,
        properties.circuit().failures(),
        new CallbackKeys(security::keysOf, Set.copyOf(security.unsignedAnswers())),
        new CallbackTargets(
            properties.allowedNetworks(), environment.acceptsProfiles(Profiles.of("quickstart"))),
        bundle == null ? null : bundles.getBundle(bundle),
        marks,
        InstantSource.system());
  }
}
