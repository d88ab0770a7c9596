package io.punctual.server.config;

import io.punctual.core.Engine;
import io.punctual.core.EngineListener;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.QueueName;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreListener;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.security.SecurityProperties;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Puts engine, store and dispatch together. */
@Configuration(proxyBeanMethods = false)
class EngineConfiguration {

  @Bean
  WorkerDirectory workerDirectory(DiscoveryClient discovery, PunctualProperties properties) {
    return new WorkerDirectory(discovery, properties.dispatch().requireTls());
  }

  @Bean
  HttpDispatcher dispatcher(
      WorkerDirectory workers,
      PunctualProperties properties,
      SecurityProperties security,
      SslBundles bundles,
      Store store,
      RedisConnectionFactory connections,
      Environment environment) {
    String bundle = properties.dispatch().sslBundle();
    return new HttpDispatcher(
        name(environment),
        workers,
        properties.dispatch().connectTimeout(),
        properties.dispatch().avoid(),
        properties.dispatch().circuit().options(),
        new CallbackKeys(security::keysOf, Set.copyOf(security.unsignedAnswers())),
        new CallbackTargets(
            properties.dispatch().allowedNetworks(),
            environment.acceptsProfiles(Profiles.of("quickstart"))),
        bundle == null ? null : bundles.getBundle(bundle),
        RedisStore.instanceMarks(connections, properties.storeOptions(), store.calls()),
        InstantSource.system());
  }

  @Bean
  WorkersSeen workersSeen(WorkerDirectory workers, ServedTypes served) {
    return new WorkersSeen() {
      @Override
      public List<String> of(QueueName queue) {
        return workers.instances(queue.application(), queue.taskType()).stream()
            .map(WorkerInstance::id)
            .toList();
      }

      @Override
      public @Nullable String unserved(QueueName queue, boolean others) {
        return served.unserved(queue, others);
      }

      @Override
      public void pulled(List<QueueName> queues) {
        served.pulled(queues);
      }
    };
  }

  /** Redis's certificate must be that of its host; Jedis by itself would take any trusted one. */
  @Bean
  JedisClientConfigurationBuilderCustomizer redisByItsName(
      DataRedisProperties redis, SslBundles bundles) {
    return builder -> {
      String url = redis.getUrl();
      if (redis.getSsl().isEnabled() || (url != null && url.startsWith("rediss:"))) {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        String bundle = redis.getSsl().getBundle();
        if (bundle != null) {
          SslOptions options = bundles.getBundle(bundle).getOptions();
          if (options.getCiphers() != null) {
            parameters.setCipherSuites(options.getCiphers());
          }
          if (options.getEnabledProtocols() != null) {
            parameters.setProtocols(options.getEnabledProtocols());
          }
        }
        builder.useSsl().sslParameters(parameters);
      }
    };
  }

  @Bean
  Store store(
      RedisConnectionFactory connections,
      PunctualProperties properties,
      ObjectProvider<StoreListener> listeners) {
    Store store = RedisStore.connect(connections, properties.storeOptions());
    listeners.forEach(store.calls()::add);
    return store;
  }

  @Bean(destroyMethod = "close")
  Engine engine(
      Store store,
      HttpDispatcher dispatcher,
      PunctualProperties properties,
      ObjectProvider<EngineListener> listener,
      Environment environment) {
    EngineOptions options =
        EngineOptions.defaults(owner(environment))
            .with()
            .lease(properties.lease())
            .buckets(properties.buckets())
            .retry(properties.retries())
            .listener(listener.getIfAvailable(() -> EngineListener.NONE))
            .maxQueues(properties.api().maxQueues())
            .build();
    Engine engine = Engines.create(store, options, dispatcher);
    dispatcher.onCapacity(engine::capacityChanged);
    return engine;
  }

  // Unique for each start, so that a lease can be told from one of an earlier life.
  private static String owner(Environment environment) {
    return name(environment) + ":" + UUID.randomUUID().toString().substring(0, 8);
  }

  private static String name(Environment environment) {
    String host = environment.getProperty("eureka.instance.hostname", "scheduler");
    String port = environment.getProperty("server.port", "8080");
    String name = (host + ":" + port).replaceAll("[^A-Za-z0-9._:-]", "-");
    return name.substring(0, Math.min(name.length(), 80));
  }
}
