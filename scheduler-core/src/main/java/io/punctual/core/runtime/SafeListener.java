package io.punctual.core.runtime;

import io.punctual.core.DeathCause;
import io.punctual.core.Lateness;
import io.punctual.core.QueueListener;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submitted;
import io.punctual.core.work.Defects;

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

  private void tell(Runnable call) {
    try {
      call.run();
      defects.worked(duty);
    } catch (RuntimeException | Error e) {
      defects.met(duty, e);
    }
  }

  @Override
  public void submitted(Submitted.Kind answer, int jobs) {
    tell(() -> listener.submitted(answer, jobs));
  }

  @Override
  public void notSubmitted(int jobs) {
    tell(() -> listener.notSubmitted(jobs));
  }

  @Override
  public void ended(Settlement.Op how, int jobs) {
    tell(() -> listener.ended(how, jobs));
  }

  @Override
  public void delivered(Lateness lateness) {
    tell(() -> listener.delivered(lateness));
  }

  @Override
  public void ran(long nanos) {
    tell(() -> listener.ran(nanos));
  }

  @Override
  public void repeated(RepeatCause cause, int jobs) {
    tell(() -> listener.repeated(cause, jobs));
  }

  @Override
  public void died(DeathCause cause, int jobs) {
    tell(() -> listener.died(cause, jobs));
  }

  @Override
  public void recurred(int fired, int skipped, int missed) {
    tell(() -> listener.recurred(fired, skipped, missed));
  }

  @Override
  public void lost(int leases) {
    tell(() -> listener.lost(leases));
  }
}
