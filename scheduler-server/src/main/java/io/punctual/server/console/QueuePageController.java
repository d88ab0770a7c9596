package io.punctual.server.console;

import io.punctual.ErrorCode;
import io.punctual.RetryPolicy;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.StoreException;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.health.Finding;
import io.punctual.server.health.InstanceHealth;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.Status;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.text.Printable;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;
import org.springframework.web.servlet.support.RequestContextUtils;

/** Queues: all of them, and one. */
@Controller
class QueuePageController {

  private static final int PAGE = 50;
  private static final int MAX_CHECKED = 200;
  private static final String NONE = "none";
  private static final Object TROUBLED = new Object();
  private static final Pattern NUMBER = Pattern.compile("\\d{1,7}");

  private static final Comparator<QueueSample> BY_NAME =
      Comparator.comparing(QueueSample::queue, NaturalOrder.QUEUES);

  /**
   * A column of the list, by which it can be sorted.
   *
   * @param key its name in the address
   * @param text the key of its heading
   * @param rising whether the smallest comes first, unless the order is turned around
   */
  private record Column(
      String key, String text, boolean number, boolean rising, Comparator<QueueSample> order) {

    static Column number(String key, String text, ToDoubleFunction<QueueSample> of) {
      return new Column(key, text, true, false, Comparator.comparingDouble(of).reversed());
    }
  }

  private static final List<Column> COLUMNS =
      List.of(
          new Column("name", "queue", false, true, BY_NAME),
          new Column(
              "state",
              "queues.state",
              false,
              false,
              Comparator.comparing(QueuePageController::severity)
                  .reversed()
                  .thenComparing(QueueHealth::state)),
          Column.number("delayed", "state.delayed", row -> row.stats().delayed()),
          Column.number("ready", "state.ready", row -> row.stats().ready()),
          Column.number("age", "queue.age", QueueSample::readyAge),
          Column.number("reserved", "state.reserved", row -> row.stats().reserved()),
          Column.number("dead", "state.dead", row -> row.stats().dead()),
          Column.number("failed", "queue.failed", row -> row.attempts().failedPercent()),
          Column.number("rate", "rate.done", row -> row.rate("done")),
          new Column(
              "next",
              "queue.next",
              false,
              true,
              Comparator.comparingLong(
                  row -> row.stats().nextDue() == null ? Long.MAX_VALUE : row.stats().nextDue())),
          Column.number("workers", "queue.workers", QueueSample::instances));

  private static Status severity(QueueSample row) {
    return QueueHealth.findings(row).stream()
        .map(Finding::severity)
        .max(Comparator.naturalOrder())
        .orElse(Status.OK);
  }

  /**
   * The heading of a column.
   *
   * @param key its name in the address
   * @param text the key of its text
   * @param sorted {@code ascending} or {@code descending}; null if the list is sorted by another
   * @param sort the order that a click on it asks for
   */
  record Heading(String key, String text, boolean number, @Nullable String sorted, String sort) {}

  private static List<Heading> headings(Column by, boolean turned) {
    return COLUMNS.stream()
        .map(
            column -> {
              boolean here = column.key().equals(by.key());
              String sorted = column.rising() == turned ? "descending" : "ascending";
              return new Heading(
                  column.key(),
                  column.text(),
                  column.number(),
                  here ? sorted : null,
                  here && !turned ? "-" + column.key() : column.key());
            })
        .toList();
  }

  private final QueueStatistics statistics;
  private final QueueService queues;
  private final BulkOperations bulk;
  private final Prober prober;
  private final LoadAhead loads;
  private final Function<QueueName, RetryPolicy> retries;

  QueuePageController(
      QueueStatistics statistics,
      QueueService queues,
      BulkOperations bulk,
      Prober prober,
      LoadAhead loads,
      EngineProperties properties) {
    this.statistics = statistics;
    this.queues = queues;
    this.bulk = bulk;
    this.prober = prober;
    this.loads = loads;
    this.retries = properties.retries();
  }

  /** The queues in the order of a column. */
  private record Sorted(String key, boolean turned) {}

  private static long troubled(QueueStatistics.Snapshot queues) {
    return queues.all().stream().filter(row -> severity(row) != Status.OK).count();
  }

  /** A page of the queues, as searched and sorted. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/queues")
  @Nullable String list(
      @RequestParam(defaultValue = "") String q,
      @RequestParam(defaultValue = "name") String sort,
      @RequestParam(defaultValue = "") String state,
      @RequestParam(defaultValue = "1") String page,
      HttpServletRequest request,
      ServletWebRequest web,
      Model model) {
    boolean turned = sort.startsWith("-");
    Column by = column(turned ? sort.substring(1) : sort);
    Comparator<QueueSample> order = turned ? by.order().reversed() : by.order();
    QueueStatistics.Snapshot now = statistics.all();
    Drawn drawn = Drawn.of(request, "queues", now.version(), q, sort, state, page);
    if (request.getHeader("HX-Request") != null && drawn.isThere(web)) {
      return null;
    }
    drawn.addTo(model, "liveTag");
    String wanted = q.strip().toLowerCase(Locale.ROOT);
    List<QueueSample> sorted =
        now.once(
            new Sorted(by.key(), turned),
            all -> all.all().stream().sorted(order.thenComparing(BY_NAME)).toList());
    List<QueueSample> found =
        sorted.stream()
            .filter(row -> row.queue().toString().toLowerCase(Locale.ROOT).contains(wanted))
            .filter(row -> state.isEmpty() || QueueHealth.state(row).equals(state))
            .toList();
    int pages = Math.max(1, (found.size() + PAGE - 1) / PAGE);
    int shown = NUMBER.matcher(page).matches() ? Math.clamp(Long.parseLong(page), 1, pages) : 1;
    model.addAttribute(
        "rows",
        found.subList((shown - 1) * PAGE, Math.min(found.size(), shown * PAGE)).stream()
            .map(row -> new Row(row, QueueHealth.state(row)))
            .toList());
    model.addAttribute("count", found.size());
    model.addAttribute("total", now.queues().size());
    model.addAttribute("troubled", now.once(TROUBLED, QueuePageController::troubled));
    model.addAttribute("any", !now.queues().isEmpty());
    model.addAttribute("page", shown);
    model.addAttribute("pages", pages);
    model.addAttribute("q", q);
    model.addAttribute("sort", sort);
    model.addAttribute("headings", headings(by, turned));
    model.addAttribute("state", state);
    model.addAttribute("states", QueueHealth.states());
    return "queues";
  }

  /** Pauses, resumes or limits the queues that were checked, each as on its own page. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues")
  String act(
      @RequestParam MultiValueMap<String, String> form,
      @RequestParam(defaultValue = "") String act,
      @RequestParam(defaultValue = "") String reason,
      @RequestParam(name = "for", defaultValue = "") String length,
      @RequestParam(defaultValue = "") String concurrency,
      @RequestParam(defaultValue = "") String rate,
      RedirectAttributes redirect) {
    Duration pause = JobFields.pause(orNull(length));
    Consumer<QueueName> one =
        switch (act) {
          case "pause" -> queue -> queues.pause(queue, reason, pause);
          case "resume" -> queues::resume;
          case "limit" -> limit(orNull(concurrency), orNull(rate));
          default -> throw ApiException.invalid("act", "must be pause, resume or limit");
        };
    List<String> failed = each(checked(form), one);
    statistics.changed();
    for (String name : List.of("q", "state", "sort", "page")) {
      String value = form.getFirst(name);
      if (value != null && !value.isEmpty()) {
        redirect.addAttribute(name, value);
      }
    }
    if (failed.isEmpty()) {
      redirect.addFlashAttribute("told", "queues." + act);
    } else {
      redirect.addFlashAttribute("failed", failed);
    }
    return "redirect:/console/queues";
  }

  // What is left empty stays as it is in each queue.
  private Consumer<QueueName> limit(@Nullable String concurrency, @Nullable String rate) {
    if (concurrency == null && rate == null) {
      throw ApiException.invalid(
          "concurrency", "or rate must be given: a limit, or none to remove it");
    }
    Integer atOnce = NONE.equals(concurrency) ? null : atOnce(concurrency);
    String pace = NONE.equals(rate) ? null : rate;
    return queue -> {
      Throttle now = queues.find(queue).sample().stats().throttle();
      queues.limit(
          queue,
          concurrency == null ? now.concurrency() : atOnce,
          rate == null ? (now.rate() == null ? null : now.rate().toString()) : pace);
    };
  }

  private static List<QueueName> checked(MultiValueMap<String, String> form) {
    List<String> names = form.getOrDefault("queue", List.of());
    if (names.isEmpty() || names.size() > MAX_CHECKED) {
      throw ApiException.invalid(
          "queue",
          names.isEmpty()
              ? "is missing: check at least one queue"
              : "must be at most "
                  + MAX_CHECKED
                  + " at once, but "
                  + names.size()
                  + " were checked");
    }
    return names.stream()
        .distinct()
        .map(
            name -> {
              String[] parts = name.split("/", -1);
              if (parts.length != 2) {
                throw ApiException.invalid("queue", "must be application/taskType");
              }
              return JobRef.queue(parts[0], parts[1]);
            })
        .toList();
  }

  /**
   * Acts on each, also if another one is damaged or gone. Returns what failed, and why.
   *
   * @throws ApiException 400 if the values are wrong for the first one; then nothing was done
   */
  private static List<String> each(List<QueueName> checked, Consumer<QueueName> act) {
    List<String> failed = new ArrayList<>();
    for (int i = 0; i < checked.size(); i++) {
      try {
        act.accept(checked.get(i));
      } catch (RuntimeException e) {
        ApiException problem = Failures.of(e);
        if (problem.code() == ErrorCode.INVALID && i == 0) {
          throw problem;
        }
        // If Redis is away, it is so for the rest.
        boolean away = problem.code() == ErrorCode.UNAVAILABLE;
        failed.add(
            checked.subList(i, away ? checked.size() : i + 1).stream()
                    .map(QueueName::toString)
                    .collect(Collectors.joining(", "))
                + ": "
                + problem.getMessage());
        if (away) {
          break;
        }
      }
    }
    return failed;
  }

  /** A queue in the list, with its state in a word. */
  record Row(QueueSample queue, String state) {}

  private static Column column(String key) {
    return COLUMNS.stream()
        .filter(column -> column.key().equals(key))
        .findFirst()
        .orElseThrow(
            () ->
                ApiException.invalid(
                    "sort",
                    "must be one of "
                        + COLUMNS.stream().map(Column::key).collect(Collectors.joining(", "))
                        + "; a minus sign before it turns the order around"));
  }

  /** One queue. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/queues/{application}/{taskType}")
  String show(
      QueueName queue,
      @RequestParam(defaultValue = "") String ahead,
      HttpServletRequest request,
      Model model) {
    QueueService.QueueView view = queues.find(queue);
    QueueSample row = view.sample();
    model.addAttribute("pullers", view.pullers());
    model.addAttribute("row", row);
    model.addAttribute("state", QueueHealth.state(row));
    model.addAttribute("queue", queue);
    List<WorkerReport> all = prober.workers(queue.application());
    Set<String> outliers = InstanceHealth.outlierKeys(all);
    List<WorkerReport> instances =
        all.stream()
            .filter(worker -> worker.taskTypes().contains(queue.taskType()))
            .sorted(WorkersPageController.worstFirst(outliers))
            .toList();
    model.addAttribute("badReleases", InstanceHealth.instancesOfBadReleases(all));
    model.addAttribute("states", WorkersPageController.states(all));
    model.addAttribute("failing", WorkersPageController.failing(all));
    model.addAttribute("instances", instances.subList(0, Math.min(PAGE, instances.size())));
    model.addAttribute("instanceCount", instances.size());
    model.addAttribute("lateness", statistics.lateness(queue));
    model.addAttribute("retry", retries.apply(queue).text());
    model.addAttribute("counters", counters(row));
    // A refresh of the live part leaves the chart out.
    if (request.getHeader("HX-Request") == null && !row.damaged()) {
      draw(row, LoadAhead.Ahead.of(ahead), request, model);
    }
    return "queue";
  }

  private void draw(
      QueueSample row, LoadAhead.Ahead ahead, HttpServletRequest request, Model model) {
    model.addAttribute("ahead", ahead.word());
    model.addAttribute("aheads", LoadAhead.Ahead.values());
    try {
      model.addAttribute(
          "load",
          new LoadChart(
              loads.look(row, ahead),
              TimeWords.of(request).now().getZone(),
              RequestContextUtils.getLocale(request)));
    } catch (StoreException e) {
      model.addAttribute("loadAway", Printable.of(String.valueOf(e.getMessage())));
    }
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
            "restored",
            "requeued",
            "purged")) {
      counters.put(name, row.count(name));
    }
    return counters;
  }

  /** Pauses the queue, or with {@code of=application} all of its application. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues/{application}/{taskType}/pause")
  String pause(
      QueueName queue,
      @RequestParam(defaultValue = "queue") String of,
      @RequestParam(defaultValue = "") String reason,
      @RequestParam(name = "for", defaultValue = "") String length) {
    if (isApplication(of)) {
      var unused =
          queues.pauseApplication(queue.application(), reason, JobFields.pause(orNull(length)));
    } else {
      queues.pause(queue, reason, JobFields.pause(orNull(length)));
    }
    statistics.changed();
    return back(queue);
  }

  private static boolean isApplication(String of) {
    if (!of.equals("queue") && !of.equals("application")) {
      throw ApiException.invalid("of", "must be queue or application");
    }
    return of.equals("application");
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/console/queues/{application}/{taskType}/resume")
  String resume(QueueName queue, @RequestParam(defaultValue = "queue") String of) {
    if (isApplication(of)) {
      var unused = queues.resumeApplication(queue.application());
    } else {
      queues.resume(queue);
    }
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
    queues.limit(queue, atOnce(concurrency), orNull(rate));
    redirect.addFlashAttribute("told", "limits");
    return back(queue);
  }

  private static @Nullable Integer atOnce(@Nullable String typed) {
    String number = typed == null ? null : orNull(typed);
    if (number != null && !NUMBER.matcher(number).matches()) {
      throw ApiException.invalid("concurrency", "must be a whole number");
    }
    return number == null ? null : Integer.valueOf(number);
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
