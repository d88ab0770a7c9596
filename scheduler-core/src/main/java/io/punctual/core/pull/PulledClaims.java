package io.punctual.core.pull;

import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.deliver.ClaimTime;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.recovery.Outages;
import io.punctual.core.store.Claim;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Serves pulls, and the ends of what was pulled; those that wait are kept by {@link Pulls}. */
public final class PulledClaims implements Claims {

  private static final CompletableFuture<Settled> LOST =
      CompletableFuture.completedFuture(new Settled(Settled.Kind.LEASE_LOST, 0));
  private static final CompletableFuture<Settled> GONE =
      CompletableFuture.completedFuture(new Settled(Settled.Kind.UNKNOWN, 0));

  private final JobStore jobs;
  private final Supplier<PullQueues> sessions;

  /**
   * @param sessions gives the queues as they are now
   */
  public PulledClaims(JobStore jobs, Supplier<PullQueues> sessions) {
    this.jobs = jobs;
    this.sessions = sessions;
  }

  @Override
  public CompletableFuture<List<PulledJob>> pull(PullRequest request) {
    PullQueues session = sessions.get();
    Pulls pulls = session.pulls();
    Look look = new Look(request);
    for (QueueName queue : request.queues()) {
      // Pulls that wait already come first: what is due is theirs.
      if (request.patience().isZero() || !pulls.waits(queue)) {
        look.at(session, queue);
        if (!look.found.isEmpty()) {
          return CompletableFuture.completedFuture(look.found);
        }
      }
    }
    RuntimeException failure = look.failure;
    if (failure != null && look.asked == 0) {
      throw failure;
    }
    if (request.patience().isZero()) {
      return CompletableFuture.completedFuture(List.of());
    }
    Pulls.Waiting waiting = new Pulls.Waiting(request);
    pulls.add(waiting);
    if (!session.isRunning()) {
      waiting.answer.complete(List.of());
    }
    return waiting.answer.completeOnTimeout(
        List.of(), request.patience().toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Takes what is due, bucket after bucket. A bucket that fails is left out: what the others have
   * given is not lost for it, and a damaged queue is not in the way of those that are asked for
   * with it. {@link Outages} has heard of it.
   */
  private final class Look {

    private final PullRequest request;
    private final List<PulledJob> found = new ArrayList<>();
    private final Set<String> away = new HashSet<>();
    private int asked;
    private @Nullable RuntimeException failure;

    Look(PullRequest request) {
      this.request = request;
    }

    void at(PullQueues session, QueueName queue) {
      try {
        Optional<List<Puller>> buckets = session.find(queue);
        if (buckets.isEmpty()) {
          asked++;
          return;
        }
        List<Puller> inAnyOrder = new ArrayList<>(buckets.get());
        Collections.shuffle(inAnyOrder);
        inAnyOrder.forEach(this::at);
      } catch (RuntimeException e) {
        failure = e;
      }
    }

    private void at(Puller bucket) {
      String node = jobs.node(bucket.bucket);
      if (found.size() >= request.max() || away.contains(node)) {
        return;
      }
      try {
        Claim claim = bucket.claim(request, request.max() - found.size());
        asked++;
        // Its lease is one more that may have to be taken back.
        Long deadline = claim.nextDeadline();
        if (deadline != null && !claim.jobs().isEmpty()) {
          bucket.signal.deadline(deadline);
        }
        // Until now nobody had asked for them.
        ClaimTime time = new ClaimTime(0, claim.now(), claim.openSince(), 0);
        List<PulledJob> open = bucket.open(claim, time, request);
        bucket.handedOut(claim, time);
        found.addAll(open);
      } catch (StoreException e) {
        failure = e;
        if (e.kind() == StoreException.Kind.UNREACHABLE) {
          // Each further call there would take as long.
          away.add(node);
        }
      }
    }
  }

  @Override
  public List<QueueName> paused(List<QueueName> queues) {
    PullQueues known = sessions.get();
    return queues.stream()
        .filter(queue -> known.seen(queue).orElse(List.of()).stream().anyMatch(Puller::isPaused))
        .toList();
  }

  @Override
  public CompletableFuture<Settled> done(ClaimToken token) {
    return settle(Settlement.Op.DONE, token, Duration.ZERO, null);
  }

  @Override
  public CompletableFuture<Settled> failed(
      ClaimToken token, String worker, String error, @Nullable Duration delay) {
    Optional<Puller> bucket = bucket(token);
    if (bucket.isEmpty()) {
      return LOST;
    }
    Optional<JobView> job = held(bucket.get(), token);
    if (job.isEmpty()) {
      return LOST;
    }
    JobContent content = JobRecord.readOrNull(job.get().record());
    @Nullable Duration wait =
        content == null ? Duration.ZERO : bucket.get().delayAfterFailure(job.get(), content, delay);
    return settle(Settlement.Op.FAILED, token, wait, new ErrorNote(worker, error));
  }

  @Override
  public CompletableFuture<Settled> rejected(ClaimToken token, String worker, String error) {
    return settle(Settlement.Op.REJECTED, token, Duration.ZERO, new ErrorNote(worker, error));
  }

  @Override
  public CompletableFuture<Settled> release(ClaimToken token, Duration delay) {
    return settle(Settlement.Op.RELEASED, token, delay, null);
  }

  @Override
  public CompletableFuture<Settled> giveBack(ClaimToken token) {
    return settle(Settlement.Op.RETURNED, token, Duration.ZERO, null);
  }

  @Override
  public void received(List<PulledJob> pulled) {
    Map<Puller, Map<Lease, Duration>> marks = new HashMap<>();
    for (PulledJob job : pulled) {
      sessions
          .get()
          .seen(job.token().queue())
          .ifPresent(
              known ->
                  marks
                      .computeIfAbsent(bucket(known, job.token()), bucket -> new HashMap<>())
                      .put(lease(job.token()), Duration.ofMillis(job.timeToRun())));
    }
    marks.forEach((bucket, leases) -> bucket.received.add(leases));
  }

  private static Lease lease(ClaimToken token) {
    return new Lease(token.taskId(), token.lease());
  }

  @Override
  public Optional<Extension> extend(ClaimToken token, @Nullable Duration timeToRun) {
    Optional<Puller> bucket = bucket(token);
    Optional<JobView> job = bucket.flatMap(found -> held(found, token));
    if (bucket.isEmpty() || job.isEmpty()) {
      return Optional.empty();
    }
    JobContent content = JobRecord.readOrNull(job.get().record());
    Duration own = content == null ? null : content.timeToRun();
    Duration lease = timeToRun != null ? timeToRun : own != null ? own : Limits.DEFAULT_TIME_TO_RUN;
    Lease held = lease(token);
    if (!jobs.extend(bucket.get().bucket, List.of(held), lease).lost().isEmpty()) {
      return Optional.empty();
    }
    bucket.get().received.remove(held);
    return held(bucket.get(), token).map(now -> new Extension(now.at(), now.cancelling()));
  }

  @Override
  public Checked check(List<ClaimToken> tokens) {
    Map<Puller, List<ClaimToken>> buckets = new HashMap<>();
    List<ClaimToken> lost = new ArrayList<>();
    List<ClaimToken> cancelling = new ArrayList<>();
    for (ClaimToken token : tokens) {
      bucket(token)
          .ifPresentOrElse(
              bucket -> buckets.computeIfAbsent(bucket, any -> new ArrayList<>()).add(token),
              () -> lost.add(token));
    }
    buckets.forEach((bucket, some) -> check(bucket, some, lost, cancelling));
    return new Checked(lost, cancelling);
  }

  /** The store answers by the ids of jobs: of two tokens of one job, each has a call. */
  private void check(
      Puller bucket, List<ClaimToken> tokens, List<ClaimToken> lost, List<ClaimToken> cancelling) {
    Map<String, ClaimToken> some = new LinkedHashMap<>();
    List<ClaimToken> others = new ArrayList<>();
    for (ClaimToken token : tokens) {
      ClaimToken same = some.putIfAbsent(token.taskId(), token);
      if (same != null && !same.equals(token)) {
        others.add(token);
      }
    }
    JobStore.Extended found =
        jobs.extend(
            bucket.bucket,
            some.values().stream().map(PulledClaims::lease).toList(),
            // It ends no earlier for that, and its puller has received it.
            ReceivedMarks.LEAST);
    some.forEach(
        (taskId, token) -> {
          if (found.lost().contains(taskId)) {
            lost.add(token);
          } else if (found.cancelling().contains(taskId)) {
            cancelling.add(token);
          }
        });
    if (!others.isEmpty()) {
      check(bucket, others, lost, cancelling);
    }
  }

  /** The job if it is reserved in that incarnation and by that token. */
  private Optional<JobView> held(Puller bucket, ClaimToken token) {
    return jobs.find(bucket.bucket, token.taskId())
        .filter(job -> job.state() == JobState.RESERVED)
        .filter(job -> job.lease() != null && job.lease().token().equals(token.lease()))
        .filter(
            job -> job.record() != null && token.incarnation().equals(job.record().incarnation()));
  }

  private CompletableFuture<Settled> settle(
      Settlement.Op op, ClaimToken token, @Nullable Duration delay, @Nullable ErrorNote note) {
    Optional<Puller> found = bucket(token);
    if (found.isEmpty()) {
      return op == Settlement.Op.DONE ? GONE : LOST;
    }
    Puller bucket = found.get();
    return bucket
        .settler
        .settle(
            new Settlement(
                op,
                token.taskId(),
                token.incarnation(),
                token.lease(),
                delay,
                /* alone= */ true,
                note == null ? new byte[0] : note.encode()))
        .thenApply(
            settled -> {
              bucket.received.remove(lease(token));
              return settled;
            });
  }

  private Optional<Puller> bucket(ClaimToken token) {
    return sessions.get().find(token.queue()).map(buckets -> bucket(buckets, token));
  }

  private static Puller bucket(List<Puller> buckets, ClaimToken token) {
    return buckets.get(Bucket.of(token.queue(), token.taskId(), buckets.size()).index());
  }
}
