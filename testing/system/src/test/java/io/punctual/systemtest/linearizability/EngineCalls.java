package io.punctual.systemtest.linearizability;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.Engine;
import io.punctual.core.Operations;
import io.punctual.core.Submit;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Revised;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.systemtest.linearizability.Answer.Outcome;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** An engine of this JVM. */
final class EngineCalls implements JobCalls {

  static final QueueName QUEUE = new QueueName("lives", "job");

  private static final int ALL = 200;
  private static final RetryPolicy ONCE = RetryPolicy.parse("20ms;attempts=1");
  private static final RetryPolicy OFTEN = RetryPolicy.parse("20ms;attempts=1000");

  private final Supplier<Engine> engine;
  private final boolean confirms;

  /**
   * @param engine that is there now
   * @param confirms whether a replica has confirmed what it answers
   */
  EngineCalls(Supplier<Engine> engine, boolean confirms) {
    this.engine = engine;
    this.confirms = confirms;
  }

  private static <T> T told(Callable<T> call) throws Exception {
    try {
      return call.call();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof StoreException store ? refusal(store) : e;
    } catch (StoreException e) {
      throw refusal(e);
    }
  }

  private static Exception refusal(StoreException e) {
    return switch (e.kind()) {
      case REFUSED, CORRUPT, EXCESSIVE -> new RefusedException(e.toString(), e);
      case UNREACHABLE, UNCONFIRMED -> e;
    };
  }

  private Answer answer(Outcome outcome) {
    return Answer.of(outcome).confirmed(confirms);
  }

  private static Due due(Action.Due due) {
    long millis = due.micros() / 1000;
    return due.relative() ? Due.in(millis) : Due.at(millis);
  }

  @Override
  public Answer submit(String taskId, String tag, Action.Submit submit) throws Exception {
    DelayQueueJob.Builder job =
        DelayQueueJob.of(QUEUE.taskType())
            .taskId(taskId)
            .params(submit.content())
            .tag(tag)
            .retry(submit.once() ? ONCE : OFTEN);
    long millis = submit.due().micros() / 1000;
    if (submit.due().relative()) {
      job.delay(Duration.ofMillis(millis));
    } else {
      job.delayTime(millis);
    }
    Submit answer =
        told(
            () ->
                engine
                    .get()
                    .submit(QUEUE.application(), job.build(), submit.replace())
                    .get(10, TimeUnit.SECONDS));
    return answer(
        switch (answer.kind()) {
          case CREATED -> Outcome.CREATED;
          case ALREADY_THERE -> Outcome.THERE;
          case ALREADY_DONE -> Outcome.DONE_BEFORE;
          case REPLACED -> Outcome.REPLACED;
          case MERGED -> throw new IllegalStateException();
          case CONFLICT -> Outcome.CONFLICT;
          case CONFLICT_DONE -> Outcome.CONFLICT_DONE;
          case IN_DELIVERY -> Outcome.IN_DELIVERY;
          case CANCELLED_BY_EVENT -> throw new IllegalStateException();
        });
  }

  @Override
  public Answer cancel(String taskId, Action.Cancel cancel) throws Exception {
    return answer(
        switch (told(() -> engine.get().operations().cancel(QUEUE, taskId, null)).kind()) {
          case CANCELLED -> Outcome.CANCELLED;
          case IN_DELIVERY -> Outcome.IN_DELIVERY;
          case FINISHED -> Outcome.FINISHED;
          case DEAD -> Outcome.DEAD;
          case UNKNOWN -> Outcome.NOT_FOUND;
          case CHANGED, CANCELLING -> throw new IllegalStateException();
        });
  }

  @Override
  public Map<String, Answer> cancelByTag(String tag, List<String> taskIds) throws Exception {
    Map<String, Answer> answers = new HashMap<>();
    Operations.Listed<Operations.TagCursor> listed =
        told(() -> engine.get().operations().tagged(QUEUE, tag, null, ALL));
    for (JobView job : listed.jobs()) {
      answers.put(job.taskId(), cancel(job.taskId(), new Action.Cancel(null)));
    }
    taskIds.forEach(id -> answers.putIfAbsent(id, Answer.of(Outcome.NOT_LISTED)));
    return answers;
  }

  @Override
  public Answer reschedule(String taskId, Action.Reschedule change) throws Exception {
    Revised revised =
        told(() -> engine.get().operations().revise(QUEUE, taskId, due(change.due()), null, null));
    return answer(
            switch (revised.kind()) {
              case REVISED -> Outcome.RESCHEDULED;
              case IN_DELIVERY -> Outcome.IN_DELIVERY;
              case FINISHED -> Outcome.FINISHED;
              case DEAD -> Outcome.DEAD;
              case UNKNOWN -> Outcome.NOT_FOUND;
              case CHANGED -> throw new IllegalStateException();
            })
        .due(revised.due() * 1000);
  }

  @Override
  public Answer revise(String taskId, Action.Revise change) throws Exception {
    Revised revised =
        told(
            () ->
                engine
                    .get()
                    .operations()
                    .revise(QUEUE, taskId, null, job -> changed(job, change.content()), null));
    return switch (revised.kind()) {
      case REVISED -> answer(Outcome.REVISED).due(revised.due() * 1000);
      case CHANGED -> answer(Outcome.CHANGED_MEANWHILE);
      // These outcomes come from a read, which no replica confirms.
      case IN_DELIVERY -> Answer.of(Outcome.IN_DELIVERY);
      case DEAD -> Answer.of(Outcome.DEAD);
      case FINISHED -> Answer.of(Outcome.FINISHED);
      case UNKNOWN -> Answer.of(Outcome.NOT_FOUND);
    };
  }

  private static JobContent changed(JobContent job, String params) {
    return job.toBuilder().params(params).build();
  }

  @Override
  public Answer restore(String taskId) throws Exception {
    return answer(
        switch (told(() -> engine.get().operations().restore(QUEUE, taskId)).kind()) {
          case RESTORED -> Outcome.RESTORED;
          case EXISTS -> Outcome.EXISTS;
          case FINISHED -> Outcome.FINISHED;
          case UNKNOWN -> Outcome.NOT_FOUND;
          case TOO_LATE, TOO_LARGE, NOT_KEPT, CHANGED -> throw new IllegalStateException();
        });
  }

  @Override
  public Answer requeue(String taskId) throws Exception {
    Requeued.Item requeued = told(() -> engine.get().operations().requeue(QUEUE, taskId, null));
    return answer(requeued.kind() == Requeued.Kind.REQUEUED ? Outcome.REQUEUED : Outcome.NOT_FOUND);
  }

  @Override
  public Answer find(String taskId) throws Exception {
    JobView job = told(() -> engine.get().find(QUEUE, taskId)).orElse(null);
    if (job == null) {
      return Answer.of(Outcome.NOT_FOUND);
    }
    JobContent content = job.content();
    String params = content == null ? null : content.params();
    return switch (job.state()) {
      case DELAYED -> Answer.of(Outcome.WAITING).content(params).due(job.at() * 1000);
      case RESERVED -> Answer.of(Outcome.IN_DELIVERY).content(params).attempt(job.attempt());
      case DEAD -> Answer.of(Outcome.DEAD).content(params);
      case FINISHED -> Answer.of(Outcome.FINISHED);
      case CANCELLED -> Answer.of(Outcome.CANCELLED);
    };
  }
}
