package io.punctual.server.api;

import io.punctual.core.JobView;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.web.ApiException;
import io.punctual.server.web.Problems;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponse;
import tools.jackson.databind.json.JsonMapper;

/**
 * The API for callers in this process: the console does what everybody can do, with the same
 * checks, the same errors and the same audit. Who may do it is not looked at here: that is said by
 * {@code Allowed} where the call comes from.
 */
@Component
public class ApiCalls {

  private static final JsonMapper JSON = new JsonMapper();

  private final JobsController jobs;
  private final QueuesController queues;
  private final StoreController store;
  private final AuditController audit;
  private final WorkersController workers;

  ApiCalls(
      JobsController jobs,
      QueuesController queues,
      StoreController store,
      AuditController audit,
      WorkersController workers) {
    this.jobs = jobs;
    this.queues = queues;
    this.store = store;
    this.audit = audit;
    this.workers = workers;
  }

  /** The version of a job, for {@link #revise}. */
  public static String version(JobView job) {
    return EntityTag.of(job);
  }

  /** What a caller is told when something fails. */
  public static ApiException problem(Exception e) {
    Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    if (cause instanceof StoreException store) {
      return Problems.translate(store);
    } else if (cause instanceof ErrorResponse answer) {
      return Problems.framework(answer.getStatusCode().value());
    }
    return Problems.unexpected(e);
  }

  /**
   * Reads a due time, as the fields of a reschedule have it.
   *
   * @throws ApiException 400
   */
  public static Due due(Map<String, ?> fields) {
    JsonFields given = fields(fields);
    Due due = JobInput.due(given);
    given.noMore();
    return due;
  }

  /** As {@code DELETE /jobs/...}. */
  public Map<String, Object> cancel(QueueName queue, String taskId) {
    return Objects.requireNonNull(
        jobs.cancel(queue.application(), queue.taskType(), taskId, null).getBody());
  }

  /** As {@code POST /jobs/.../run}. */
  public void run(QueueName queue, String taskId) {
    var unused = jobs.runNow(queue.application(), queue.taskType(), taskId, null);
  }

  /** As {@code POST /jobs/.../requeue}. */
  public void requeue(QueueName queue, String taskId) {
    var unused = jobs.requeue(queue.application(), queue.taskType(), taskId, null);
  }

  /**
   * As {@code PATCH /jobs/...}.
   *
   * @param version the ETag that was seen; null for any
   */
  public Map<String, Object> revise(
      QueueName queue, String taskId, @Nullable String version, Map<String, ?> fields) {
    return Objects.requireNonNull(
        jobs.revise(queue.application(), queue.taskType(), taskId, version, fields(fields))
            .getBody());
  }

  /** As {@code POST /queues/.../pause} and {@code resume}. */
  public void hold(QueueName queue, boolean paused) {
    var unused =
        paused
            ? queues.pause(queue.application(), queue.taskType())
            : queues.resume(queue.application(), queue.taskType());
  }

  /** As {@code PUT /queues/.../limits}. */
  public void limit(QueueName queue, Map<String, ?> fields) {
    var unused = queues.limit(queue, fields(fields));
  }

  /** As {@code GET /forecast}. */
  public Map<String, Object> forecast(
      @Nullable String application, @Nullable String taskType, String within, int intervals) {
    return queues.forecast(application, taskType, within, Integer.toString(intervals));
  }

  /** As {@code POST /store/losses/acknowledge}. */
  public void acknowledgeLosses() {
    var unused = store.acknowledge();
  }

  /** As {@code POST /store/losses/resend}, for all that applications have kept. */
  public void requestResend() {
    var unused = store.resend(Instant.EPOCH);
  }

  /** As {@code POST /workers:probe}. */
  public void probe(String application, String instance) {
    var unused = workers.probe(application, instance);
  }

  /** As {@code GET /audit}. */
  public Map<String, Object> audit(@Nullable String cursor, int limit) {
    return audit.list(cursor, Integer.toString(limit));
  }

  private static JsonFields fields(Map<String, ?> fields) {
    return JsonFields.of(JSON.valueToTree(fields), "");
  }
}
