package io.punctual.example.quarkus;

import io.punctual.TaskWorker;
import jakarta.inject.Singleton;
import org.jboss.logging.Logger;

/** Closes an order that is not paid. */
@Singleton
class CloseOrder implements TaskWorker {

  static final String TYPE = "order.close";

  private static final Logger log = Logger.getLogger(CloseOrder.class);

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public void invoke(String order) {
    log.infof("closing order %s", order);
  }
}
