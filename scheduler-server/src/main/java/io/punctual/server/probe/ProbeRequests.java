package io.punctual.server.probe;

import io.punctual.ErrorCode;
import io.punctual.server.problem.ApiException;
import io.punctual.server.text.Printable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.springframework.stereotype.Component;

/** Probes an instance because a caller asks for it. */
@Component
public class ProbeRequests {

  private final Prober prober;

  ProbeRequests(Prober prober) {
    this.prober = prober;
  }

  /**
   * Calls an instance now, with nothing to run.
   *
   * @throws ApiException 404 for an instance that is not registered, 503 if other probes take too
   *     long
   */
  public WorkerReport probe(String application, String instance) {
    return called(application, instance)
        .orElseThrow(
            () ->
                ApiException.of(
                    ErrorCode.NOT_FOUND,
                    "the registry shows this scheduler no instance "
                        + Printable.of(instance)
                        + " of "
                        + Printable.of(application)
                        + " that runs jobs"));
  }

  private Optional<WorkerReport> called(String application, String instance) {
    try {
      return prober.probe(application, instance);
    } catch (TimeoutException e) {
      throw ApiException.unavailable(
          "other probes of "
              + application
              + " are under way, and this one did not come to its end; GET /api/v1/workers has the"
              + " last result, with its time",
          Duration.ofSeconds(5));
    }
  }
}
