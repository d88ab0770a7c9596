package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperation.Action;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobSearch;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.Body;
import io.punctual.server.web.JobFields;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
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

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/jobs")
  Page<JobResponse> list(@RequestParam MultiValueMap<String, String> given) {
    Map<String, String> query = given.toSingleValueMap();
    for (String name : query.keySet()) {
      if (!JobFilter.fields().contains(name) && !List.of("limit", "cursor").contains(name)) {
        throw ApiException.invalid(
            name.length() > 64 ? name.substring(0, 64) : name,
            "is not known here; known are "
                + String.join(", ", JobFilter.fields())
                + ", limit, cursor");
      }
    }
    String application = JobFields.application(query.get("application"));
    given.forEach(
        (name, values) -> {
          if (values.size() > 1) {
            throw ApiException.invalid(name, "must not be given twice");
          }
        });
    JobFilter filter =
        new JobFilter(
            application,
            query.get("taskType"),
            JobFilter.State.of(query.get("state")),
            query.get("tag"),
            JobFields.moment("from", query.get("from")),
            JobFields.moment("until", query.get("until")),
            query.get("error"));
    int limit = Page.limit(query.get("limit"), MAX_PAGE);
    JobSearch.Found found = search.find(filter, query.get("cursor"), limit, StoreCalls.ofRequest());
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
   * @param damaged task types that could not be read; absent if there are none
   */
  record BulkAnswer(
      boolean dryRun,
      int matched,
      Map<String, Integer> outcomes,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Instant dueAt,
      List<Item> items,
      @Nullable String nextCursor,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> damaged) {

    record Item(String taskType, String taskId, String outcome) {}
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
                        new BulkAnswer.Item(item.queue().taskType(), item.taskId(), item.outcome()))
                .toList(),
            page.next(),
            taskTypes(page.damaged()));
    StoreException failure = page.failure();
    if (failure != null) {
      throw Failures.translate(failure)
          .with(JSON.convertValue(answer, new TypeReference<Map<String, Object>>() {}));
    }
    return answer;
  }
}
