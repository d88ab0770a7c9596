package io.punctual.server.rest;

import io.punctual.Limits;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.BulkOperations.Action;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobIds;
import io.punctual.server.jobs.JobSearch;
import io.punctual.server.jobs.JobSelection;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.JobFields;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import io.punctual.server.web.WebProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Lists of jobs, and operations on many jobs: by tag, by state, by id. */
@RestController
class JobListController {

  private static final int MAX_PAGE = 500;

  private final JobSearch search;
  private final BulkOperations bulk;
  private final WebProperties.Api bounds;

  JobListController(JobSearch search, BulkOperations bulk, WebProperties properties) {
    this.search = search;
    this.bulk = bulk;
    this.bounds = properties.api();
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/jobs")
  Map<String, Object> list(@RequestParam MultiValueMap<String, String> given) {
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
    String application = Ownership.application(query.get("application"));
    if (application == null) {
      throw ApiException.invalid("application", "is missing");
    }
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
            JsonFields.moment("from", query.get("from")),
            JsonFields.moment("until", query.get("until")),
            query.get("error"));
    JobSearch.Found found =
        search.find(filter, query.get("cursor"), Paging.limit(query.get("limit"), MAX_PAGE));
    Map<String, Object> page =
        Paging.page(found.jobs().stream().map(JobOutput::of).toList(), found.next());
    if (!found.damaged().isEmpty()) {
      page.put("damaged", taskTypes(found.damaged()));
    }
    return page;
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:cancel")
  Map<String, Object> cancel(HttpServletRequest request) {
    return bulk(Action.CANCEL, request);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:reschedule")
  Map<String, Object> reschedule(HttpServletRequest request) {
    return bulk(Action.RESCHEDULE, request);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:requeue")
  Map<String, Object> requeue(HttpServletRequest request) {
    return bulk(Action.REQUEUE, request);
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/api/v1/jobs:purge")
  Map<String, Object> purge(HttpServletRequest request) {
    return bulk(Action.PURGE, request);
  }

  private Map<String, Object> bulk(Action action, HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    boolean dryRun = fields.flag("dryRun");
    int limit = fields.integer("limit", BulkOperations.MAX_PAGE, 1, BulkOperations.MAX_PAGE);
    String cursor = fields.text("cursor");
    JobSelection jobs = selection(action, fields);
    Due due = action == Action.RESCHEDULE ? JobFields.due(fields) : null;
    fields.noMore();
    BulkOperations.Order order = new BulkOperations.Order(action, jobs, due);
    BulkOperations.Page page =
        dryRun ? bulk.preview(order, limit, cursor) : bulk.perform(order, limit, cursor);
    StoreException failure = page.failure();
    if (failure != null) {
      throw Failures.translate(failure).with(output(dryRun, page));
    }
    return output(dryRun, page);
  }

  private static JobSelection selection(Action action, JsonFields fields) {
    String application = fields.application();
    String taskType = fields.name("taskType");
    List<String> ids = fields.textList("taskIds");
    JobFilter.State state = JobFilter.State.of(fields.text("state"));
    String tag = fields.text("tag");
    Long from = fields.moment("from");
    Long until = fields.moment("until");
    String error = fields.text("error");
    if (fields.get("taskIds") != null) {
      return ids(fields, application, taskType, ids);
    }
    if (state == null && tag == null) {
      state = taskType == null ? null : action.usualState();
    }
    return new JobFilter(application, taskType, state, tag, from, until, error);
  }

  private static JobIds ids(
      JsonFields fields, String application, @Nullable String taskType, List<String> ids) {
    if (taskType == null) {
      throw fields.error("taskType", "is missing: ids are those of one queue");
    }
    for (String other : List.of("state", "tag", "from", "until", "error", "limit", "cursor")) {
      if (fields.get(other) != null) {
        throw fields.error(other, "cannot be given together with taskIds");
      }
    }
    if (ids.isEmpty()) {
      throw fields.error("taskIds", "must be a list of 1 to " + BulkOperations.MAX_PAGE + " ids");
    }
    for (int i = 0; i < ids.size(); i++) {
      if (!Limits.isName(ids.get(i))) {
        throw fields.error("taskIds[" + i + "]", Limits.NAME_RULE);
      }
    }
    return new JobIds(new QueueName(application, taskType), ids);
  }

  private static Map<String, Object> output(boolean dryRun, BulkOperations.Page page) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("dryRun", dryRun);
    out.put("matched", page.items().size());
    out.put("outcomes", page.outcomes());
    Long dueAt = page.dueAt();
    if (dueAt != null) {
      out.put("dueAt", Instant.ofEpochMilli(dueAt).toString());
    }
    out.put("items", page.items().stream().map(JobListController::output).toList());
    out.put("nextCursor", page.next());
    if (!page.damaged().isEmpty()) {
      out.put("damaged", taskTypes(page.damaged()));
    }
    return out;
  }

  private static List<String> taskTypes(List<QueueName> queues) {
    return queues.stream().map(QueueName::taskType).toList();
  }

  private static Map<String, Object> output(BulkOperations.Item item) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("taskType", item.queue().taskType());
    out.put("taskId", item.taskId());
    out.put("outcome", item.outcome());
    return out;
  }
}
