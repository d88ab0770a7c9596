package io.punctual.server.jobs;

import io.punctual.DelayQueueJob.Event;
import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.Operations.EventDone;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Caller;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Takes events for the jobs of applications; records it in the audit. */
@Component
public class EventService {

  private final Engine engine;
  private final EngineProperties.Events properties;
  private final AuditLog audit;

  EventService(Engine engine, EngineProperties properties, AuditLog audit) {
    this.engine = engine;
    this.properties = properties.events();
    this.audit = audit;
  }

  /**
   * An event has come.
   *
   * @param applications whose jobs are told
   * @return what became of the jobs of each application, in the order given
   * @throws ApiException 403 if the caller may not send events to one of them; then none has it
   */
  public List<EventDone> event(Event event, List<String> applications) {
    applications.forEach(this::requireRight);
    return applications.stream()
        .map(
            application -> {
              EventDone done = engine.operations().event(application, event);
              audit.did(
                  "event",
                  () -> application + " " + event.name() + " " + event.key(),
                  null,
                  done.items().size() + " jobs");
              return done;
            })
        .toList();
  }

  private void requireRight(String application) {
    Caller caller = Caller.current();
    String own = caller.application();
    if (!caller.mayTouch(application) && (own == null || !properties.mayReach(own, application))) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          own
              + " has no right to send events to "
              + application
              + ": an operator gives it with punctual.events.rights."
              + own
              + "="
              + application,
          Map.of("application", application));
    }
  }
}
