package io.punctual.example.quarkus;

import io.punctual.TaskWorker;
import io.punctual.client.PunctualClient;
import io.quarkus.arc.All;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Makes the client a bean. Each bean that is a {@link TaskWorker} runs jobs. */
@Singleton
class PunctualBeans {

  @Produces
  @Singleton
  PunctualClient client(
      @ConfigProperty(name = "quarkus.application.name") String application,
      @ConfigProperty(name = "punctual.url") List<URI> schedulers,
      @ConfigProperty(name = "punctual.token") Optional<String> token,
      @All List<TaskWorker> workers) {
    PunctualClient.Builder client = PunctualClient.of(application).schedulers(schedulers);
    token.ifPresent(client::token);
    workers.forEach(client::worker);
    return client.build();
  }

  void start(@Observes StartupEvent event, PunctualClient client) {
    client.pull();
  }

  /** Waits for the jobs that run. */
  void stop(@Observes ShutdownEvent event, PunctualClient client) {
    client.close();
  }
}
