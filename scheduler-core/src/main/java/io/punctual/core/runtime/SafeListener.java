package io.punctual.core.runtime;

import io.punctual.core.QueueListener;
import io.punctual.core.job.QueueName;
import io.punctual.core.work.Defects;
import java.util.function.Consumer;

/** Keeps what a listener throws from the duties of the engine that call it. */
final class SafeListener implements QueueListener {

  private final QueueListener listener;
  private final Defects defects;
  private final String duty;

  SafeListener(QueueName queue, QueueListener listener, Defects defects) {
    this.listener = listener;
    this.defects = defects;
    this.duty = "The listener of " + queue;
  }

  @Override
  public void pass(Consumer<QueueListener> event) {
    try {
      event.accept(listener);
      defects.worked(duty);
    } catch (RuntimeException | Error e) {
      defects.met(duty, e);
    }
  }
}
