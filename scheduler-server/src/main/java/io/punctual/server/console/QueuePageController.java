package io.punctual.server.console;

import io.punctual.RetryPolicy;
import io.punctual.core.job.QueueName;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/** Queues: all of them, and one. */
@Controller
class QueuePageController {

  private static final int PAGE = 50;
  private static final Pattern NUMBER = Pattern.compile("\\d{1,7}");

  private static final Map<String, Comparator<QueueSample>> ORDERS =
      Map.of(
          "name", Comparator.comparing(row -> row.queue().toString()),
          "delayed", Comparator.comparingLong(row -> -row.stats().delayed()),
          "ready", Comparator.comparingLong(row -> -row.stats().ready()),
          "age", Comparator.comparingLong(row -> -row.readyAge()),
          "reserved", Comparator.comparingLong(row -> -row.stats().reserved()),
          "dead", Comparator.comparingLong(row -> -row.stats().dead()),
          "failed", Comparator.comparingLong(row -> -row.attempts().failedPercent()),
          "rate", Comparator.comparingDouble(row -> -row.rate("done")),
          "next",
              Comparator.comparingLong(
                  row -> row.stats().nextDue() == null ? Long.MAX_VALUE : row.stats().nextDue()));

  private final QueueStatistics statistics;
  private final QueueService queues;
  private final BulkOperations bulk;
  private final Prober prober;
  private final Function<QueueName, RetryPolicy> retries;

  QueuePageController(
      QueueStatistics statistics,
      QueueService queues,
      BulkOperations bulk,
      Prober prober,
      EngineProperties properties) {
    this.statistics = statistics;
    this.queues = queues;
    this.bulk = bulk;
    this.prober = prober;
    this.retries = properties.retries();
  }

  /** A page of the queues, as searched and sorted. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/queues")
  String list(
      @RequestParam(defaultValue = "") String q,
      @RequestParam(defaultValue = "name") String sort,
      @RequestParam(defaultValue = "") String state,
      @RequestParam(defaultValue = "1") String page,
      Model model) {
    Comparator<QueueSample> order = ORDERS.get(sort);
    if (order == null) {
      throw ApiException.invalid("sort", "must be one of " + String.join(", ", sorted()));
    }
    String wanted = q.strip().toLowerCase(Locale.ROOT);
    List<QueueSample> found =
        statistics.all().all().stream()
            .filter(row -> row.queue().toString().toLowerCase(Locale.ROOT).contains(wanted))
            .filter(row -> state.isEmpty() || QueueHealth.state(row).equals(state))
            .sorted(order.thenComparing(row -> row.queue().toString()))
            .toList();
    int pages = Math.max(1, (found.size() + PAGE - 1) / PAGE);
    int shown = NUMBER.matcher(page).matches() ? Math.clamp(Long.parseLong(page), 1, pages) : 1;
    model.addAttribute(
        "rows",
        found.subList((shown - 1) * PAGE, Math.min(found.size(), shown * PAGE)).stream()
            .map(row -> new Row(row, QueueHealth.state(row)))
            .toList());
    model.addAttribute("count", found.size());
    model.addAttribute("any", !statistics.all().queues().isEmpty());
    model.addAttribute("page", shown);
    model.addAttribute("pages", pages);
    model.addAttribute("q", q);
    model.addAttribute("sort", sort);
    model.addAttribute("state", state);
    model.addAttribute("states", QueueHealth.states());
    return "queues";
  }

  /** A queue in the list, with its state in a word. */
  record Row(QueueSample queue, String state) {}

  private static List<String> sorted() {
    return ORDERS.keySet().stream().sorted().toList();
  }

  /** One queue. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/queues/{application}/{taskType}")
  String show(QueueName queue, Model model) {
    QueueService.QueueView view = queues.find(queue);
    QueueSample row = view.sample();
    model.addAttribute("pullers", view.pullers());
    model.addAttribute("row", row);
    model.addAttribute("state", QueueHealth.state(row));
    model.addAttribute("queue", queue);
    List<WorkerReport> instances =
        prober.workers(queue.application()).stream()
            .filter(worker -> worker.taskTypes().contains(queue.taskType()))
            .toList();
    model.addAttribute("instances", instances.subList(0, Math.min(PAGE, instances.size())));
    model.addAttribute("instanceCount", instances.size());
    model.addAttribute("lateness", statistics.lateness(queue));
    model.addAttribute("retry", retries.apply(queue).text());
    model.addAttribute("counters", counters(row));
    return "queue";
  }

  private static Map<String, Long> counters(QueueSample row) {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (String name :
        List.of(
            "submitted",
            "done",
            "failed",
            "rejected",
            "unknown",
            "undeliverable",
            "expired",
            "released",
            "dead",
            "cancelled",
            "requeued",
            "purged")) {
      counters.put(name, row.count(name));
    }
    return counters;
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues/{application}/{taskType}/pause")
  String pause(QueueName queue) {
    queues.setPaused(queue, true);
    statistics.changed();
    return back(queue);
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues/{application}/{taskType}/resume")
  String resume(QueueName queue) {
    queues.setPaused(queue, false);
    statistics.changed();
    return back(queue);
  }

  /** What is left empty is not bounded. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues/{application}/{taskType}/limits")
  String limit(
      QueueName queue,
      @RequestParam(defaultValue = "") String concurrency,
      @RequestParam(defaultValue = "") String rate,
      RedirectAttributes redirect) {
    Integer atOnce = null;
    if (!concurrency.isBlank()) {
      if (!NUMBER.matcher(concurrency.strip()).matches()) {
        throw ApiException.invalid("concurrency", "must be a whole number");
      }
      atOnce = Integer.valueOf(concurrency.strip());
    }
    queues.limit(queue, atOnce, rate.isBlank() ? null : rate.strip());
    redirect.addFlashAttribute("told", "limits");
    return back(queue);
  }

  /** What is left empty does not close it. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues/{application}/{taskType}/hours")
  String hours(
      QueueName queue,
      @RequestParam(defaultValue = "") String window,
      @RequestParam(defaultValue = "") String windowZone,
      @RequestParam(defaultValue = "") String calendar,
      RedirectAttributes redirect) {
    queues.hours(queue, JobFields.hours(orNull(window), orNull(windowZone), orNull(calendar)));
    statistics.changed();
    redirect.addFlashAttribute("told", "hours");
    return back(queue);
  }

  private static @Nullable String orNull(String text) {
    return text.isBlank() ? null : text.strip();
  }

  /** Removes all dead letters, or all jobs that wait, once the queue's name was typed. */
  @Allowed(Role.ADMIN)
  @PostMapping("/console/queues/{application}/{taskType}/purge")
  String purge(
      QueueName queue,
      @RequestParam String state,
      @RequestParam(defaultValue = "") String name,
      HttpServletRequest request) {
    if (!name.strip().equals(queue.toString())) {
      throw ApiException.invalid(
          "name", "must be " + queue + ", so that nothing else is purged by mistake");
    }
    String search = JobQuery.of(queue.application(), queue.taskType(), state);
    JobFilter jobs =
        Objects.requireNonNull(JobQuery.parse(search, TimeWords.of(request)).asFilter());
    BulkOperation operation =
        bulk.keep(BulkOperation.Action.PURGE, List.of(jobs), null, List.of(search), "");
    bulk.begin(operation, 0);
    return "redirect:/console/operations/" + operation.getId();
  }

  private static String back(QueueName queue) {
    return "redirect:/console/queues/" + queue;
  }
}
