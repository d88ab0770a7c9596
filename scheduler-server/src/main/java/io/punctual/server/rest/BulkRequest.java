package io.punctual.server.rest;

import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.JsonValues.EpochMillis;
import io.punctual.server.input.JsonValues.Moment;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperation.Action;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobIds;
import io.punctual.server.jobs.JobSelection;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Ownership;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation on many jobs: those with the ids, those that match the filter, or those that another
 * operation cancelled.
 *
 * @param application the application; {@value #ALL} means all applications and becomes null
 * @param operation the caller's name for a cancel of many jobs, by which it can be undone
 */
record BulkRequest(
    @Nullable String application,
    @Nullable String taskType,
    @Nullable List<String> taskIds,
    @Nullable String state,
    @Nullable String tag,
    @Nullable Moment from,
    @Nullable Moment until,
    @Nullable String error,
    @Nullable Integer limit,
    @Nullable String cursor,
    @Nullable Boolean dryRun,
    @Nullable EpochMillis delayTime,
    @Nullable Duration delay,
    @Nullable Instant dueAt,
    @Nullable String operation) {

  private static final String ALL = "*";

  BulkRequest {
    if (ALL.equals(application)) {
      Ownership.require(ALL);
      application = null;
    } else {
      application = JobFields.application(application);
    }
    taskType = JobFields.name("taskType", taskType);
    operation = JobFields.name("operation", operation);
    if (limit != null) {
      limit = JobFields.integer("limit", limit, 0, 1, BulkOperations.MAX_PAGE);
    }
  }

  /**
   * Makes the operation.
   *
   * @throws ApiException 400
   */
  BulkOperation operation(Action action, BulkOperations bulk) {
    Due due = null;
    if (action == Action.RESCHEDULE) {
      due = JobFields.due(delayTime, delay, dueAt);
    } else {
      String reason = "is for jobs:reschedule alone";
      refuse("delayTime", delayTime, reason);
      refuse("delay", delay, reason);
      refuse("dueAt", dueAt, reason);
    }
    if (action != Action.CANCEL && action != Action.RESTORE) {
      refuse("operation", operation, "is only for jobs:cancel and jobs:restore");
    }
    JobSelection jobs =
        taskIds != null
            ? ids(action, taskIds)
            : action == Action.RESTORE ? cancelled() : filter(action);
    return bulk.of(action, jobs, due, operation);
  }

  private JobSelection cancelled() {
    if (operation == null) {
      throw ApiException.invalid(
          "operation",
          "is missing: name the operation that cancelled the jobs, or give taskType and taskIds");
    }
    String reason = "is not for jobs:restore";
    refuse("state", state, reason);
    refuse("tag", tag, reason);
    refuse("from", from, reason);
    refuse("until", until, reason);
    refuse("error", error, reason);
    return new JobSelection.CancelledIn(operation, application, taskType, "", null);
  }

  private JobFilter filter(Action action) {
    JobFilter.State named = JobFilter.State.of(state);
    return new JobFilter(
        application,
        taskType,
        named == null && tag == null && taskType != null ? action.usualState() : named,
        tag,
        from == null ? null : from.millis(),
        until == null ? null : until.millis(),
        JobFilter.Failed.with(error));
  }

  private JobIds ids(Action action, List<String> ids) {
    if (application == null) {
      throw ApiException.invalid(
          "application",
          "must name one application with taskIds, but was *: task ids belong to one queue");
    } else if (taskType == null) {
      throw ApiException.invalid("taskType", "is missing: ids are those of one queue");
    }
    String reason = "cannot be given together with taskIds";
    refuse("state", state, reason);
    refuse("tag", tag, reason);
    refuse("from", from, reason);
    refuse("until", until, reason);
    refuse("error", error, reason);
    refuse("limit", limit, reason);
    refuse("cursor", cursor, reason);
    if (action == Action.RESTORE) {
      refuse("operation", operation, reason);
    }
    if (ids.isEmpty() || ids.size() > BulkOperations.MAX_PAGE) {
      throw ApiException.invalid(
          "taskIds", "must be a list of 1 to " + BulkOperations.MAX_PAGE + " ids");
    }
    return new JobIds(new QueueName(application, taskType), JobFields.taskIds("taskIds", ids));
  }

  private static void refuse(String field, @Nullable Object given, String reason) {
    if (given != null) {
      throw ApiException.invalid(field, reason);
    }
  }
}
