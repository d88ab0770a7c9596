package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settled;
import io.punctual.core.store.query.JobView;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Ownership;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.async.DeferredResult;

/** Hands jobs to workers that fetch them, and settles them; records it in the audit. */
@Component
public class ClaimService {

  /** The most task types of one claim. */
  public static final int MAX_TASK_TYPES = 32;

  private final Engine engine;
  private final Claims claims;
  private final LongPolls polls;
  private final AuditLog audit;

  ClaimService(Engine engine, LongPolls polls, AuditLog audit) {
    this.engine = engine;
    this.claims = engine.claims();
    this.polls = polls;
    this.audit = audit;
  }

  /**
   * Claims jobs, and answers when there are some or the wait is over.
   *
   * @param gone whether the caller has closed its connection
   * @param form makes the answer of the jobs
   * @param none makes the answer where there are no jobs; null for {@code form}
   * @throws ApiException 403 for another application's jobs, 429 or 503 if too many wait
   */
  public DeferredResult<ResponseEntity<?>> claim(
      PullRequest request,
      BooleanSupplier gone,
      Function<List<PulledJob>, Object> form,
      @Nullable Function<NoJobs, ResponseEntity<?>> none) {
    List<QueueName> queues = request.queues();
    Ownership.require(queues.get(0).application());
    audit.did("claim", queues::toString, null, null);
    return polls.pull(
        request,
        gone,
        jobs ->
            jobs.isEmpty() && none != null
                ? none.apply(noJobs(queues))
                : ResponseEntity.ok(new PulledAnswer(form.apply(jobs), jobs, claims)));
  }

  /** The queues that gave nothing because they are paused or damaged. */
  public record NoJobs(List<QueueName> paused, List<QueueName> damaged) {}

  private NoJobs noJobs(List<QueueName> queues) {
    Map<QueueName, String> damaged = engine.scanners().damaged();
    return new NoJobs(claims.paused(queues), queues.stream().filter(damaged::containsKey).toList());
  }

  /**
   * Ends the waits of a worker that leaves.
   *
   * @return completes with their number once they are answered
   */
  public CompletableFuture<Integer> leave(String application, String worker) {
    Ownership.require(application);
    return polls.leave(application.toLowerCase(Locale.ROOT), worker);
  }

  /**
   * Reads a token.
   *
   * @throws ApiException 400, or 403 for another application's token
   */
  public static ClaimToken token(String text) {
    ClaimToken token;
    try {
      token = ClaimToken.parse(text);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid("token", String.valueOf(e.getMessage()));
    }
    Ownership.require(token.queue().application());
    return token;
  }

  /** What became of a claimed job. */
  public enum Outcome {
    /** It ran. */
    DONE,
    /** It ran, as was said before. */
    ALREADY_DONE,
    /** It will be tried again. */
    RETRY,
    /** It waits again, without an attempt. */
    RELEASED,
    /** It is a dead letter. */
    DEAD,
    /** It was to be cancelled, and is. */
    CANCELLED;

    /** Returns the outcome as the API writes it. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The settlement of a claimed job.
   *
   * @param dueAt when it is due again, epoch ms; null where it is not
   */
  public record Settlement(Outcome outcome, @Nullable Long dueAt) {}

  /**
   * Acknowledges a job, even if its lease was lost.
   *
   * @throws ApiException 404
   */
  public Settlement done(ClaimToken token) {
    return settled(token, Outcome.RETRY, claims.done(token).join());
  }

  /**
   * The worker that reports a failure.
   *
   * @param name its own name; null for the name in the lease
   * @param address its address, used if no worker pulled the job
   */
  public record ReportingWorker(@Nullable String name, String address) {}

  /**
   * Notes that a job failed.
   *
   * @param delay until the next attempt; null leaves it to the retry policy
   * @throws ApiException 409 if the lease was lost
   */
  public Settlement failed(
      ClaimToken token, ReportingWorker worker, String error, @Nullable Duration delay) {
    String name = name(token, worker);
    return settled(token, Outcome.RETRY, claims.failed(token, name, error, delay).join());
  }

  /**
   * Makes a job a dead letter.
   *
   * @throws ApiException 409 if the lease was lost
   */
  public Settlement rejected(ClaimToken token, ReportingWorker worker, String error) {
    String name = name(token, worker);
    return settled(token, Outcome.RETRY, claims.rejected(token, name, error).join());
  }

  private String name(ClaimToken token, ReportingWorker worker) {
    if (worker.name() != null) {
      return worker.name();
    }
    return engine
        .find(token.queue(), token.taskId())
        .map(JobView::lease)
        .filter(lease -> lease.ownerIsWorker() && lease.token().equals(token.lease()))
        .map(JobView.LeaseInfo::owner)
        .orElse(worker.address());
  }

  /**
   * Gives a job back untried.
   *
   * @param delay until it may be claimed again; null for none
   * @throws ApiException 409 if the lease was lost
   */
  public Settlement release(ClaimToken token, @Nullable Duration delay) {
    return settled(
        token,
        Outcome.RELEASED,
        claims.release(token, Objects.requireNonNullElse(delay, Duration.ZERO)).join());
  }

  private Settlement settled(ClaimToken token, Outcome again, Settled settled) {
    Settlement settlement =
        switch (settled.kind()) {
          case DONE -> new Settlement(Outcome.DONE, null);
          case ALREADY_DONE -> new Settlement(Outcome.ALREADY_DONE, null);
          case DEAD, EXPIRED, DROPPED -> new Settlement(Outcome.DEAD, null);
          case CANCELLED -> new Settlement(Outcome.CANCELLED, null);
          case RETRY -> new Settlement(again, settled.at());
          case UNKNOWN -> throw JobResult.unknown(new JobRef(token.queue(), token.taskId()));
          case LEASE_LOST -> throw lost(token);
        };
    if (settlement.outcome() != Outcome.ALREADY_DONE) {
      audit.did(
          "end",
          () -> token.queue() + "/" + token.taskId(),
          "reserved",
          settlement.outcome().text());
    }
    return settlement;
  }

  /**
   * Extends the lease of a job.
   *
   * @param timeToRun from now; null for the job's own
   * @return until when the lease lasts, and whether the attempt is to stop
   * @throws ApiException 409 if the lease was lost
   */
  public Claims.Extension extend(ClaimToken token, @Nullable Duration timeToRun) {
    return claims.extend(token, timeToRun).orElseThrow(() -> lost(token));
  }

  /** Looks at jobs that a worker has, and changes nothing. */
  public Claims.Checked check(List<ClaimToken> tokens) {
    return claims.check(tokens);
  }

  private ApiException lost(ClaimToken token) {
    Map<String, Object> extra = new LinkedHashMap<>();
    String now = "it is gone";
    JobView job = engine.find(token.queue(), token.taskId()).orElse(null);
    if (job != null) {
      String state = job.state().name().toLowerCase(Locale.ROOT);
      extra.put("state", state);
      now = "it is " + state;
      if (job.state() == JobState.RESERVED) {
        extra.put("attempt", job.attempt());
        now = "attempt " + job.attempt() + " has it";
      }
    }
    return ApiException.of(
        ErrorCode.LEASE_LOST,
        "the job " + token.taskId() + " is not yours any more: " + now + "; nothing was changed",
        extra);
  }
}
