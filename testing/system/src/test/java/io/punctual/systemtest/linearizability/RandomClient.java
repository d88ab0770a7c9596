package io.punctual.systemtest.linearizability;

import io.punctual.systemtest.EpochMicros;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls any scheduler for any of a few jobs, without knowing what others do: seven of ten calls
 * change a job that may be there.
 */
final class RandomClient implements Runnable {

  private static final int MOST_MILLIS = 250;
  // Beyond the end of every run.
  private static final long FAR_MILLIS = 300_000;
  private static final int GROUPS = 4;
  private static final int UNANSWERED = 20;

  private final String name;
  private final List<String> taskIds;
  private final List<JobCalls> schedulers;
  private final Recorder recorder;
  private final Random random;
  private final AtomicBoolean ended;
  private final long pauseNanos;
  private final Map<String, Action.Submit> submitted = new HashMap<>();
  private final Map<String, Action.Seen> seen = new HashMap<>();
  private int contents;

  /**
   * @param pause ms between one call and the next, at most
   */
  RandomClient(
      String name,
      List<String> taskIds,
      List<JobCalls> schedulers,
      Recorder recorder,
      long seed,
      int pause,
      AtomicBoolean ended) {
    this.name = name;
    this.taskIds = taskIds;
    this.schedulers = schedulers;
    this.recorder = recorder;
    this.random = new Random(seed);
    this.ended = ended;
    this.pauseNanos = TimeUnit.MILLISECONDS.toNanos(pause);
  }

  /** The tag of a job; some have the same. */
  static String tag(List<String> taskIds, String taskId) {
    return "group-" + taskIds.indexOf(taskId) % GROUPS;
  }

  @Override
  public void run() {
    while (!ended.get()) {
      boolean answered = call(taskIds.get(random.nextInt(taskIds.size())));
      // Calls without an answer make a history hard to judge: nobody knows when they happened.
      LockSupport.parkNanos((answered ? 1 : UNANSWERED) * random.nextLong(pauseNanos));
    }
  }

  /** Answers whether there was an answer. */
  private boolean call(String id) {
    JobCalls scheduler = schedulers.get(random.nextInt(schedulers.size()));
    int dice = random.nextInt(100);
    if (dice < 32) {
      return submits(
          scheduler, id, new Action.Submit(content(), due(), once(), random.nextBoolean()));
    } else if (dice < 38) {
      Action.Submit first = new Action.Submit(content(), due(), once(), false);
      return submits(scheduler, id, submitted.getOrDefault(id, first));
    } else if (dice < 58) {
      Action.Due due = dice < 46 ? due() : dice < 50 ? far() : Action.Due.NOW;
      Action.Reschedule change = new Action.Reschedule(due, seenOf(id));
      return calls(id, change, () -> scheduler.reschedule(id, change));
    } else if (dice < 70) {
      Action.Revise change = new Action.Revise(content(), seenOf(id));
      return calls(id, change, () -> scheduler.revise(id, change));
    } else if (dice < 76) {
      Action.Cancel cancel = new Action.Cancel(seenOf(id));
      return calls(id, cancel, () -> scheduler.cancel(id, cancel));
    } else if (dice < 78) {
      return cancelsByTag(scheduler, tag(taskIds, id));
    } else if (dice < 81) {
      return calls(id, new Action.Restore(), () -> scheduler.restore(id));
    } else if (dice < 85) {
      return calls(id, new Action.Requeue(), () -> scheduler.requeue(id));
    }
    return calls(id, new Action.Find(), () -> scheduler.find(id));
  }

  private boolean submits(JobCalls scheduler, String id, Action.Submit submit) {
    submitted.put(id, submit);
    return calls(id, submit, () -> scheduler.submit(id, tag(taskIds, id), submit));
  }

  private boolean calls(String id, Action action, Callable<Answer> call) {
    Answer answer = recorder.call(name, id, action, call);
    if (answer != null && answer.incarnation() != null && answer.version() > 0) {
      seen.put(id, new Action.Seen(answer.incarnation(), answer.version()));
    }
    return answer != null;
  }

  private boolean cancelsByTag(JobCalls scheduler, String tag) {
    List<String> tagged = taskIds.stream().filter(id -> tag(taskIds, id).equals(tag)).toList();
    Action cancel = new Action.CancelByTag();
    long invoked = EpochMicros.now();
    try {
      scheduler
          .cancelByTag(tag, tagged)
          .forEach((id, answer) -> recorder.add(name, id, cancel, answer, invoked));
      return true;
    } catch (Exception e) {
      // Some of them may have been cancelled before it broke.
      tagged.forEach(id -> recorder.open(name, id, cancel, invoked));
      return false;
    }
  }

  private Action.@Nullable Seen seenOf(String id) {
    return random.nextInt(3) == 0 ? seen.get(id) : null;
  }

  private String content() {
    return name + "-" + ++contents;
  }

  private boolean once() {
    return random.nextInt(4) == 0;
  }

  private Action.Due due() {
    long millis = random.nextInt(MOST_MILLIS);
    return random.nextBoolean()
        ? Action.Due.in(millis * 1000)
        : Action.Due.at((EpochMicros.now() / 1000 + millis) * 1000);
  }

  private static Action.Due far() {
    return Action.Due.in(FAR_MILLIS * 1000);
  }
}
