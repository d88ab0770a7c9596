package io.punctual.client.autoconfigure;

import io.punctual.client.submit.SchedulerSource;
import java.net.URI;
import java.util.List;

/** Schedulers whose addresses are configured, or come from a container. */
record ConfiguredSchedulers(List<URI> schedulers) implements SchedulerSource {

  ConfiguredSchedulers {
    schedulers = schedulers.stream().map(SchedulerAddresses::withoutSlash).toList();
  }
}
