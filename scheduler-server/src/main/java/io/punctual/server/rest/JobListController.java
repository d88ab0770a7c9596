package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.Query;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperation.Action;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobSearch;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Lists of jobs, and operations on many jobs: by tag, by state, by id. */
@RestController
class JobListController {

  private static final int MAX_PAGE = 500;
  private static final JsonMapper JSON = new JsonMapper();

  private final JobSearch search;
  private final BulkOperations bulk;

  JobListController(JobSearch search, BulkOperations bulk) {
    this.search = search;
    this.bulk = bulk;
  }

  /** Which jobs a list has; times are instants with offset, or epoch ms. */
  record ListRequest(
      @Nullable String application,
      @Nullable String taskType,
      @Nullable String state,
      @Nullable String tag,
      @Nullable String from,
      @Nullable String until,
      @Nullable String error,
      @Nullable String limit,
      @Nullable String cursor) {

    private JobFilter filter() {
      return new JobFilter(
          JobFields.application(application),
          taskType,
          JobFilter.State.of(state),
          tag,
          JobFields.moment("from", from),
          JobFields.moment("until", until),
          JobFilter.Failed.with(error));
    }
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/jobs")
  Page<JobResponse> list(@Query ListRequest request) {
    int limit = Page.limit(request.limit(), MAX_PAGE);
    JobSearch.Found found =
        search.find(request.filter(), request.cursor(), limit, StoreCalls.ofRequest());
    return new Page<>(
        found.jobs().stream().map(JobResponse::of).toList(),
        found.next(),
        taskTypes(found.damaged()));
  }

  private static List<String> taskTypes(List<QueueName> queues) {
    return queues.stream().map(QueueName::taskType).toList();
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:cancel")
  BulkAnswer cancel(@Body BulkRequest request) {
    return bulk(Action.CANCEL, request);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:reschedule")
  BulkAnswer reschedule(@Body BulkRequest request) {
    return bulk(Action.RESCHEDULE, request);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:requeue")
  BulkAnswer requeue(@Body BulkRequest request) {
    return bulk(Action.REQUEUE, request);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:restore")
  BulkAnswer restore(@Body BulkRequest request) {
    return bulk(Action.RESTORE, request);
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/api/v1/jobs:purge")
  BulkAnswer purge(@Body BulkRequest request) {
    return bulk(Action.PURGE, request);
  }

  /**
   * What a page of an operation did, or would do.
   *
   * @param outcomes the number of jobs by outcome
   * @param dueAt the new due time of a reschedule; absent otherwise
   * @param damaged task types that could not be read, of all applications with the application
   *     before a slash; absent if there are none
   */
  record BulkAnswer(
      boolean dryRun,
      int matched,
      Map<String, Integer> outcomes,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Instant dueAt,
      List<Item> items,
      @Nullable String nextCursor,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> damaged) {

    record Item(String application, String taskType, String taskId, String outcome) {}
  }

  private BulkAnswer bulk(Action action, BulkRequest request) {
    boolean dryRun = Boolean.TRUE.equals(request.dryRun());
    int limit = Objects.requireNonNullElse(request.limit(), BulkOperations.MAX_PAGE);
    BulkOperation.Page page = request.operation(action, bulk).page(dryRun, limit, request.cursor());
    Long dueAt = page.dueAt();
    BulkAnswer answer =
        new BulkAnswer(
            dryRun,
            page.items().size(),
            page.outcomes(),
            dueAt == null ? null : Instant.ofEpochMilli(dueAt),
            page.items().stream()
                .map(
                    item ->
                        new BulkAnswer.Item(
                            item.queue().application(),
                            item.queue().taskType(),
                            item.taskId(),
                            item.outcome()))
                .toList(),
            page.next(),
            request.application() != null
                ? taskTypes(page.damaged())
                : page.damaged().stream().map(QueueName::toString).toList());
    StoreException failure = page.failure();
    if (failure != null) {
      throw Failures.translate(failure)
          .with(JSON.convertValue(answer, new TypeReference<Map<String, Object>>() {}));
    }
    return answer;
  }
}
