package io.punctual.server.dispatch;

import io.punctual.core.ClaimToken;
import io.punctual.core.Delivery;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Due;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A delivery that writes down what it is told, and fails a test that ends it twice. */
public final class FakeDelivery implements Delivery {

  public static final QueueName QUEUE = new QueueName("shop", "job");

  private final String id;
  private final Duration timeToRun;
  private final Queue<String> told = new ConcurrentLinkedQueue<>();
  private volatile Duration leaseLeft = Duration.ofSeconds(10);
  private volatile boolean suspect;
  private volatile int unknown;
  private volatile boolean unreadable;
  private volatile boolean unendable;
  private volatile Runnable whenCancelling = () -> {};

  public FakeDelivery(String id) {
    this(id, Duration.ofSeconds(20));
  }

  public FakeDelivery(String id, Duration timeToRun) {
    this.id = id;
    this.timeToRun = timeToRun;
  }

  /** The lease is over from now on. */
  public FakeDelivery loseLease() {
    return leaseLeft(Duration.ZERO);
  }

  /** The lease lasts that long from now on. */
  public FakeDelivery leaseLeft(Duration left) {
    leaseLeft = left;
    return this;
  }

  /** Its connection broke twice. */
  public FakeDelivery suspect() {
    suspect = true;
    unknown = 2;
    return this;
  }

  /** Its connection broke. */
  public FakeDelivery brokenOnce() {
    suspect = true;
    unknown = 1;
    return this;
  }

  /** Throws an Error when it is asked for how long it waited. */
  public FakeDelivery unreadable() {
    unreadable = true;
    return this;
  }

  /** Throws an Error once it was told how it ended. */
  public FakeDelivery unendable() {
    unendable = true;
    return this;
  }

  /** What it was told, in order, but for {@link #started}. */
  public List<String> told() {
    return List.copyOf(told);
  }

  private CompletableFuture<Void> tell(String what) {
    told.add(what);
    if (unendable) {
      throw new AssertionError("a defect");
    }
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public QueueName queue() {
    return QUEUE;
  }

  @Override
  public String taskId() {
    return id;
  }

  @Override
  public String incarnation() {
    return "i" + id;
  }

  @Override
  public long version() {
    return 2;
  }

  @Override
  public long claimedAt() {
    return 2_000;
  }

  @Override
  public int attempt() {
    return 1;
  }

  @Override
  public long dueTime() {
    return 1_000;
  }

  @Override
  public long lateSince() {
    return 1_000;
  }

  @Override
  public long waited() {
    if (unreadable) {
      throw new AssertionError("a defect");
    }
    return 0;
  }

  @Override
  public JobContent content() {
    return JobContent.of(Due.at(1_000)).params("{}").timeToRun(timeToRun).build();
  }

  @Override
  public void onCancelling(Runnable action) {
    whenCancelling = action;
  }

  /** Its job was cancelled. */
  public void cancel() {
    whenCancelling.run();
  }

  @Override
  public AttemptCounts tries() {
    return new AttemptCounts(0, unknown, 0, 0, unknown, suspect, 0, 1, 0);
  }

  @Override
  public boolean travelsAlone() {
    return suspect;
  }

  @Override
  public void started() {}

  @Override
  public Duration leaseLeft() {
    return leaseLeft;
  }

  @Override
  public ClaimToken token() {
    return new ClaimToken(QUEUE, id, incarnation(), new LeaseToken("lease"));
  }

  @Override
  public boolean extend(Duration more) {
    var unused = tell("extend " + more);
    return true;
  }

  @Override
  public boolean hold(Duration within) {
    var unused = tell("hold " + within);
    return true;
  }

  @Override
  public void onLost(Runnable action) {}

  @Override
  public CompletableFuture<Void> done(String instance) {
    return tell("done");
  }

  @Override
  public CompletableFuture<Void> failed(ErrorNote note, @Nullable Duration delay) {
    return tell("failed" + at(note, delay) + ": " + note.message());
  }

  @Override
  public CompletableFuture<Void> unknown(
      ErrorNote note, boolean travelledAlone, RepeatCause cause) {
    return tell(
        "unknown"
            + at(note, null)
            + ", "
            + cause
            + (travelledAlone ? ", counts" : "")
            + ": "
            + note.message());
  }

  @Override
  public CompletableFuture<Void> undeliverable(ErrorNote note, @Nullable Duration delay) {
    return tell("undeliverable" + at(note, delay) + ": " + note.message());
  }

  @Override
  public CompletableFuture<Void> release() {
    return tell("released");
  }

  @Override
  public CompletableFuture<Void> deferred(Duration within) {
    return tell("deferred " + within);
  }

  @Override
  public CompletableFuture<Void> rejected(ErrorNote note) {
    return tell("rejected" + at(note, null) + ": " + note.message());
  }

  private static String at(ErrorNote note, @Nullable Duration delay) {
    return " at " + note.instance() + (delay == null ? "" : " for " + delay);
  }

  @Override
  public String toString() {
    return id;
  }
}
