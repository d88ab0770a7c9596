package io.punctual.systemtest.linearizability;

import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.linearizability.Answer.Outcome;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Writes down what happens, as those who see it tell. */
final class Recorder {

  private final Queue<Operation> operations = new ConcurrentLinkedQueue<>();
  private final long start = EpochMicros.now();

  /** Makes a call, and records it unless it was refused; null where it had no answer. */
  @Nullable Answer call(String client, String taskId, Action action, Callable<Answer> call) {
    long invoked = EpochMicros.now();
    try {
      Answer answer = call.call();
      add(client, taskId, action, answer, invoked);
      return answer;
    } catch (JobCalls.RefusedException e) {
      return null;
    } catch (Exception e) {
      open(client, taskId, action, invoked);
      return null;
    }
  }

  /** A call that began then has had its answer. */
  void add(String client, String taskId, Action action, Answer answer, long invoked) {
    operations.add(new Operation(client, taskId, action, answer, invoked, EpochMicros.now()));
  }

  /** A call that began then has none. */
  void open(String client, String taskId, Action action, long invoked) {
    operations.add(new Operation(client, taskId, action, null, invoked, Operation.NEVER));
  }

  /** A worker got a job just now; when it was claimed is not known. */
  void delivered(String worker, String taskId, Action.Deliver delivery) {
    add(worker, taskId, delivery, Answer.of(Outcome.HAPPENED), start);
  }

  /** Redis lost something at some time since then. */
  void lost(Action loss, long since) {
    add("fault", Histories.ALL, loss, Answer.of(Outcome.HAPPENED), since);
  }

  List<Operation> operations() {
    return List.copyOf(operations);
  }
}
