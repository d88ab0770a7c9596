package io.punctual.server.dispatch;

import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.registry.InstanceSource;
import io.punctual.server.registry.RegisteredSource;
import io.punctual.server.registry.Registries;
import io.punctual.server.registry.SchedulerName;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.security.SecurityProperties;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.springframework.beans.factory.ObjectProvider;
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
  RegisteredSource registeredSource(RegisteredWorkers workers) {
    return new RegisteredSource(workers);
  }

  @Bean
  Registries registries(DiscoveryClient discovery) {
    return Registries.of(discovery);
  }

  /** Who registered at a scheduler had a token of the application: that entry comes last. */
  @Bean
  WorkerDirectory workerDirectory(
      Registries registries, RegisteredSource registered, DispatchProperties properties) {
    List<InstanceSource> sources = new ArrayList<>(registries.sources());
    sources.add(registered);
    return new WorkerDirectory(sources, properties.requireTls());
  }

  @Bean
  CallbackTargets callbackTargets(DispatchProperties properties, Environment environment) {
    return new CallbackTargets(
        properties.allowedNetworks(), environment.acceptsProfiles(Profiles.of("quickstart")));
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
      CallbackTargets targets,
      ObjectProvider<AttemptListener> attempts,
      Environment environment) {
    String bundle = properties.sslBundle();
    return new HttpDispatcher(
        SchedulerName.of(environment),
        workers,
        times,
        properties.circuit().failures(),
        new CallbackKeys(security::keysOf, Set.copyOf(security.unsignedAnswers())),
        targets,
        bundle == null ? null : bundles.getBundle(bundle),
        marks,
        attempts.getIfAvailable(() -> AttemptListener.NONE),
        InstantSource.system());
  }
}
