package io.punctual.client.lease;

import io.punctual.ErrorCode;
import io.punctual.LeaseLostException;
import io.punctual.PunctualException;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerErrors;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lease in the schedulers' store, for which any of them can be asked. */
public final class RemoteLease implements JobLease {

  private final SchedulerCalls calls;
  private final @Nullable String token;
  private final Duration kept;
  private final Consumer<Duration> sender;
  private volatile Runnable whenLost = () -> {};
  private volatile Runnable whenCancelled = () -> {};

  /**
   * A lease.
   *
   * @param token as it came with the job; null where the scheduler gave none
   * @param kept how long the lease must last at least from each time on at which more time is asked
   *     for; whoever keeps it alive sees to the rest
   * @param sender hears how long the job may take from now on; the scheduler that sent it has a
   *     watch of its own
   */
  public RemoteLease(
      SchedulerCalls calls, @Nullable String token, Duration kept, Consumer<Duration> sender) {
    this.calls = calls;
    this.token = token;
    this.kept = kept;
    this.sender = sender;
  }

  @Override
  public void extend(Duration timeToRun) {
    // First, since its watch may be about to end the attempt.
    sender.accept(timeToRun);
    var unused = ask(kept);
  }

  @Override
  public String defer(Duration within) {
    return ask(within);
  }

  /** Has the lease last that long at least; answers its token. */
  private String ask(Duration lease) {
    if (token == null) {
      throw new PunctualException(
          ErrorCode.WRONG_STATE,
          "the scheduler sent this job without a token, so that nothing can be asked for it; update"
              + " the schedulers");
    }
    SchedulerCalls.Answer answer =
        calls.call(
            "POST", "/api/v1/claims/" + token + "/extend", Map.of("timeToRun", lease.toMillis()));
    return switch (answer.status()) {
      case 200 -> {
        if (answer.body().is("cancelling")) {
          cancelled();
        }
        yield token;
      }
      case 404, 409 -> throw new LeaseLostException(answer.text("detail"));
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public void remind(Duration timeToRun) {
    sender.accept(timeToRun);
  }

  @Override
  public void onLost(Runnable action) {
    whenLost = action;
  }

  @Override
  public void onCancelled(Runnable action) {
    whenCancelled = action;
  }

  /** It was seen that the attempt is to stop. */
  public void cancelled() {
    whenCancelled.run();
  }

  /** It was seen that the job is not ours any more. */
  public void lost() {
    whenLost.run();
  }
}
