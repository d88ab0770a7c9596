package io.punctual.server.api;

import io.punctual.CancelResult;
import io.punctual.Limits;
import io.punctual.core.engine.Engine;
import io.punctual.core.engine.JobView;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.Revised;
import io.punctual.server.config.PunctualProperties;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.AuditLog;
import io.punctual.server.security.Role;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Many jobs at once: by tag, by state, by id. Each job has its own truthful outcome; a call takes a
 * bounded number of them and says where to go on.
 */
@RestController
class JobListController {

  private static final int MAX_PAGE = 500;
  private static final int MAX_BULK = 1_000;

  private final Engine engine;
  private final JobSearch search;
  private final AuditLog audit;
  private final PunctualProperties.Api bounds;

  JobListController(
      Engine engine, JobSearch search, AuditLog audit, PunctualProperties properties) {
    this.audit = audit;
    this.engine = engine;
    this.search = search;
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
    String application = AccessRules.application(query.get("application"));
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
    return Paging.page(found.jobs().stream().map(JobOutput::of).toList(), found.next());
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:cancel")
  Map<String, Object> cancel(HttpServletRequest request) {
    return cancel(body(request));
  }

  Map<String, Object> cancel(JsonFields fields) {
    Bulk bulk = read(fields, JobFilter.State.DELAYED, any -> null);
    return run(
        "cancel",
        bulk,
        job -> waiting(job, "cancelled"),
        job -> outcome(engine.cancel(job.queue(), job.taskId())));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:reschedule")
  Map<String, Object> reschedule(HttpServletRequest request) {
    return reschedule(body(request));
  }

  Map<String, Object> reschedule(JsonFields fields) {
    Bulk bulk = read(fields, JobFilter.State.DELAYED, JobInput::due);
    Due due = bulk.due();
    return run(
        "reschedule",
        bulk,
        job -> waiting(job, "rescheduled"),
        job -> outcome(engine.operations().revise(job.queue(), job.taskId(), due, null, null)));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/jobs:requeue")
  Map<String, Object> requeue(HttpServletRequest request) {
    return requeue(body(request));
  }

  Map<String, Object> requeue(JsonFields fields) {
    Bulk bulk = read(fields, JobFilter.State.DEAD, any -> null);
    return run(
        "requeue",
        bulk,
        job -> job.state() == JobState.DEAD ? "requeued" : JobOutput.state(job.state()),
        job ->
            engine.requeue(job.queue(), job.taskId())
                ? "requeued"
                : now(job.queue(), job.taskId()));
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/api/v1/jobs:purge")
  Map<String, Object> purge(HttpServletRequest request) {
    return purge(body(request));
  }

  Map<String, Object> purge(JsonFields fields) {
    Bulk bulk = read(fields, null, any -> null);
    return run(
        "purge",
        bulk,
        job -> purgeable(job.state()) ? "purged" : JobOutput.state(job.state()),
        job ->
            purgeable(job.state())
                    && engine.operations().purge(job.queue(), job.state(), job.taskId())
                ? "purged"
                : now(job.queue(), job.taskId()));
  }

  private JsonFields body(HttpServletRequest request) {
    return JsonBody.read(request, bounds.maxBody().toBytes());
  }

  /**
   * What is to be done to many.
   *
   * @param filter null when the ids are given
   * @param ids of the queue; empty when a filter is given
   */
  private record Bulk(
      @Nullable JobFilter filter,
      @Nullable QueueName queue,
      List<String> ids,
      boolean dryRun,
      int limit,
      @Nullable String cursor,
      @Nullable Due due) {}

  private static Bulk read(
      JsonFields fields,
      JobFilter.@Nullable State state,
      Function<JsonFields, @Nullable Due> time) {
    String application = fields.application();
    String taskType = fields.name("taskType");
    List<String> ids = fields.textList("taskIds");
    JobFilter.State asked = JobFilter.State.of(fields.text("state"));
    String tag = fields.text("tag");
    Long from = fields.moment("from");
    Long until = fields.moment("until");
    String error = fields.text("error");
    boolean dryRun = fields.flag("dryRun");
    int limit = fields.integer("limit", MAX_BULK, 1, MAX_BULK);
    String cursor = fields.text("cursor");
    Due due = time.apply(fields);
    fields.noMore();
    if (fields.get("taskIds") != null) {
      return byIds(fields, application, taskType, ids, dryRun, due);
    }
    // A tag finds jobs of every state, so that each has its outcome.
    JobFilter.State wanted = asked == null && tag == null ? state : asked;
    JobFilter filter = new JobFilter(application, taskType, wanted, tag, from, until, error);
    return new Bulk(filter, null, List.of(), dryRun, limit, cursor, due);
  }

  private static Bulk byIds(
      JsonFields fields,
      String application,
      @Nullable String taskType,
      List<String> ids,
      boolean dryRun,
      @Nullable Due due) {
    if (taskType == null) {
      throw fields.error("taskType", "is missing: ids are those of one queue");
    }
    for (String other : List.of("state", "tag", "from", "until", "error", "limit", "cursor")) {
      if (fields.get(other) != null) {
        throw fields.error(other, "cannot be given together with taskIds");
      }
    }
    if (ids.isEmpty()) {
      throw fields.error("taskIds", "must be a list of 1 to " + MAX_BULK + " ids");
    }
    for (int i = 0; i < ids.size(); i++) {
      if (!Limits.isName(ids.get(i))) {
        throw fields.error("taskIds[" + i + "]", Limits.NAME_RULE);
      }
    }
    QueueName queue = new QueueName(application, taskType);
    return new Bulk(null, queue, ids, dryRun, ids.size(), null, due);
  }

  private Map<String, Object> run(
      String name, Bulk bulk, Function<JobView, String> preview, Function<JobView, String> action) {
    List<Map<String, Object>> items = new ArrayList<>();
    Map<String, Integer> outcomes = new TreeMap<>();
    JobFilter filter = bulk.filter();
    QueueName queue = bulk.queue();
    String next = null;
    Function<JobView, String> each = bulk.dryRun() ? preview : action;
    if (filter != null) {
      JobSearch.Found found = search.find(filter, bulk.cursor(), bulk.limit());
      next = found.next();
      found
          .jobs()
          .forEach(job -> add(items, outcomes, job.queue(), job.taskId(), () -> each.apply(job)));
    } else if (queue != null) {
      for (String id : bulk.ids()) {
        add(items, outcomes, queue, id, () -> engine.find(queue, id).map(each).orElse("unknown"));
      }
    }
    Map<String, Object> out = new LinkedHashMap<>();
    if (!bulk.dryRun()) {
      audit.did(
          name + " many",
          () -> queue != null ? queue + " " + bulk.ids() : String.valueOf(filter),
          null,
          outcomes.toString());
    }
    out.put("dryRun", bulk.dryRun());
    out.put("matched", items.size());
    out.put("outcomes", outcomes);
    out.put("items", items);
    out.put("nextCursor", next);
    return out;
  }

  private static void add(
      List<Map<String, Object>> items,
      Map<String, Integer> outcomes,
      QueueName queue,
      String taskId,
      Supplier<String> action) {
    String outcome = action.get();
    Map<String, Object> item = new LinkedHashMap<>();
    item.put("taskType", queue.taskType());
    item.put("taskId", taskId);
    item.put("outcome", outcome);
    items.add(item);
    outcomes.merge(outcome, 1, Integer::sum);
  }

  private static boolean purgeable(JobState state) {
    return state == JobState.DEAD || state == JobState.DELAYED;
  }

  private String now(QueueName queue, String taskId) {
    return engine.find(queue, taskId).map(job -> JobOutput.state(job.state())).orElse("unknown");
  }

  private static String waiting(JobView job, String done) {
    return switch (job.state()) {
      case DELAYED -> done;
      case RESERVED -> "in_delivery";
      default -> JobOutput.state(job.state());
    };
  }

  private static String outcome(CancelResult result) {
    return result.outcome().name().toLowerCase(Locale.ROOT);
  }

  private static String outcome(Revised revised) {
    return revised.kind() == Revised.Kind.REVISED
        ? "rescheduled"
        : revised.kind().name().toLowerCase(Locale.ROOT);
  }
}
