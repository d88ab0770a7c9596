package io.punctual.systemtest;

import io.punctual.client.ClientIdentity;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.submit.HttpJobScheduler;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.spi.JobScheduler;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/** What the client starter makes, in the test's own process. */
final class JavaClient {

  private JavaClient() {}

  static JobScheduler of(String application, JavaProcess scheduler) {
    List<URI> schedulers = List.of(URI.create(scheduler.url()));
    return new HttpJobScheduler(
        new ClientIdentity(application),
        new SchedulerCalls(
            new SchedulerLocator(() -> schedulers),
            new Jackson3Json(),
            Duration.ofSeconds(20),
            null,
            builder -> {}));
  }
}
