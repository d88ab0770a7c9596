package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.internal.TaskWorkers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;

/** One line where schedulers have no path to call: without it, jobs would wait and nobody know. */
final class NotCalledReport {

  private static final Logger log = LoggerFactory.getLogger(NotCalledReport.class);

  private final ClientIdentity identity;
  private final TaskWorkers workers;
  private final SchedulerLocator locator;

  NotCalledReport(ClientIdentity identity, TaskWorkers workers, SchedulerLocator locator) {
    this.identity = identity;
    this.workers = workers;
    this.locator = locator;
  }

  @EventListener
  void report(ApplicationReadyEvent event) {
    if (workers.types().isEmpty()) {
      log.info(
          "Punctual: {} runs no task types (no @DelayedTask method and no TaskWorker bean: it only"
              + " submits); schedulers {}",
          identity.application(),
          locator.shown());
      return;
    }
    log.warn(
        "Punctual: jobs of {} DO NOT RUN in this instance of {}: schedulers cannot call it, since {}."
            + " Set punctual.delivery=pull: then it fetches them. Sending jobs works as it is;"
            + " schedulers {}",
        workers.types(),
        identity.application(),
        why(event.getSpringApplication().getWebApplicationType()),
        locator.shown());
  }

  private static String why(@Nullable WebApplicationType type) {
    return type == null || type == WebApplicationType.NONE
        ? "this application has no web server"
        : "this application leaves PunctualCallbackAutoConfiguration out";
  }
}
