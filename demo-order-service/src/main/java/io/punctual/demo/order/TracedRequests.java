package io.punctual.demo.order;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationPredicate;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.scheduling.support.ScheduledTaskObservationContext;
import org.springframework.stereotype.Component;

/**
 * Lets traces begin where somebody does something to an order. Health checks and the page, which
 * looks each second, would hide them; a call of the scheduler brings jobs, each with a trace of its
 * own.
 */
@Component
class TracedRequests implements ObservationPredicate {

  @Override
  public boolean test(String name, Observation.Context context) {
    if (context instanceof ServerRequestObservationContext server) {
      HttpServletRequest request = server.getCarrier();
      return request != null && request.getRequestURI().startsWith("/orders");
    }
    return !(context instanceof ScheduledTaskObservationContext);
  }
}
