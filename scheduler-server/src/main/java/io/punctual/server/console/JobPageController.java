package io.punctual.server.console;

import io.punctual.ErrorCode;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.UndoLimits;
import io.punctual.core.store.query.JobView;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.input.EntityTag;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.JobChange;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobIds;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.JobSelection;
import io.punctual.server.jobs.JobService;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Role;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Jobs: search, one job's story, and what can be done to one and to many. */
@Controller
class JobPageController {

  private static final String JOB = "/console/jobs/{application}/{taskType}/{taskId}";
  private static final int SHOWN_PARAMS = 4_096;
  private static final int MAX_CHECKED = 200;
  private static final int MAX_WHEN = 100;
  private static final int MAX_NUMBER = 20;
  // As pages show numbers, in whatever language.
  private static final Pattern SEPARATORS = Pattern.compile("[\\s\\p{Z},.'’]");
  // Each looks at some thousand jobs.
  private static final int MAX_SEARCHES = 100;

  private final JobFinder finder;
  private final JobService jobs;
  private final BulkOperations bulk;
  private final QueueStatistics statistics;

  JobPageController(
      JobFinder finder, JobService jobs, BulkOperations bulk, QueueStatistics statistics) {
    this.finder = finder;
    this.jobs = jobs;
    this.bulk = bulk;
    this.statistics = statistics;
  }

  /** A page of what was found; its address can be kept. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/jobs")
  String list(
      @RequestParam(defaultValue = "") String q,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(defaultValue = "") String at,
      Model model,
      HttpServletRequest request,
      HttpServletResponse response) {
    TimeWords times = TimeWords.of(request);
    JobQuery query = JobQuery.unread(q);
    JobFinder.Page page = new JobFinder.Page(List.of(), null, false);
    boolean many = false;
    try {
      // "An hour ago" is the same on all pages of a search.
      times = cursor == null || at.isEmpty() ? times : TimeWords.at(at);
      query = JobQuery.parse(q, times);
      many = query.asFilter() != null;
      page = finder.find(query, cursor);
    } catch (ApiException e) {
      if (e.code() != ErrorCode.INVALID) {
        throw e;
      }
      // The search stays in its field, to be corrected.
      query = JobQuery.unread(q);
      many = false;
      response.setStatus(e.status());
      model.addAttribute("wrong", String.valueOf(e.getMessage()));
      model.addAttribute("word", String.valueOf(e.getMessage()).split(" ", 2)[0]);
    }
    model.addAttribute(
        "head", model.containsAttribute("wrong") ? Head.of("wrong") : head(query, cursor, page));
    model.addAttribute("query", query);
    model.addAttribute("at", times.now().toString());
    model.addAttribute("span", times.span(query.from(), query.until()));
    model.addAttribute("jobs", page.jobs());
    model.addAttribute("next", page.next());
    model.addAttribute("cut", page.cut());
    model.addAttribute("states", JobFilter.State.values());
    model.addAttribute("bulk", many);
    model.addAttribute("dead", query.shows(JobFilter.State.DEAD));
    return "jobs";
  }

  /**
   * What the first line of a search says.
   *
   * @param kind the end of the key of its text
   * @param found how many jobs the page has
   * @param where the queues that are counted; empty for all
   * @param damaged how many queues may have more, because their keys are damaged
   */
  record Head(
      String kind, int found, long waiting, long reserved, long dead, String where, int damaged) {

    static Head of(String kind) {
      return new Head(kind, 0, 0, 0, 0, "", 0);
    }
  }

  private Head head(JobQuery query, @Nullable String cursor, JobFinder.Page page) {
    int found = page.jobs().size();
    boolean whole = cursor == null && page.next() == null && !page.cut();
    // The counts of queues say nothing about an id or a tag.
    boolean byName = query.wantedId() != null || query.wantedTag() != null;
    JobFinder.Counts counts = byName ? null : finder.count(query);
    if (counts != null && query.isOfQueues() && counts.queues() > 0) {
      // The list is newer than the counts.
      JobFilter.State state = query.state() == null ? JobFilter.State.DELAYED : query.state();
      return new Head(
          query.where().isEmpty() ? "all" : "in",
          found,
          newer(
              counts.waiting(),
              found,
              whole,
              state == JobFilter.State.DELAYED,
              state == JobFilter.State.READY),
          newer(counts.reserved(), found, whole, state == JobFilter.State.RESERVED, false),
          newer(counts.dead(), found, whole, state == JobFilter.State.DEAD, false),
          query.where(),
          counts.damaged());
    }
    String kind = whole ? "match" : cursor != null && page.next() == null ? "last" : "more";
    return new Head(
        kind, found, 0, 0, 0, "", counts == null ? finder.damaged(query) : counts.damaged());
  }

  private static long newer(
      long counted, int found, boolean whole, boolean listed, boolean partly) {
    return listed && whole ? found : listed || partly ? Math.max(counted, found) : counted;
  }

  /** One job. */
  @Allowed(Role.VIEWER)
  @GetMapping(JOB)
  String show(JobRef named, @RequestParam(defaultValue = "false") boolean whole, Model model) {
    JobView job = jobs.find(named);
    QueueName queue = job.queue();
    String params = job.content() == null ? "" : job.content().params();
    boolean cut = !whole && params.length() > SHOWN_PARAMS;
    model.addAttribute("job", job);
    model.addAttribute("queue", queue);
    model.addAttribute("version", EntityTag.of(job));
    model.addAttribute("state", job.state().name().toLowerCase(Locale.ROOT));
    model.addAttribute("tree", cut ? null : ParamsTree.of(params));
    model.addAttribute("params", cut ? params.substring(0, SHOWN_PARAMS) : params);
    model.addAttribute("cut", cut);
    model.addAttribute("length", params.length());
    model.addAttribute("waiting", job.state() == JobState.DELAYED);
    model.addAttribute("why", job.ready() ? why(queue) : null);
    model.addAttribute("canceller", canceller(job));
    model.addAttribute("base", ServletUriComponentsBuilder.fromCurrentContextPath().toUriString());
    return "job";
  }

  /** Says what cancelled a job: an operator, an application or an event. */
  private static String canceller(JobView job) {
    String by = job.ending() == null ? null : job.ending().by();
    if (by == null || !by.contains("/")) {
      return "operator";
    }
    return by.startsWith(Ending.EVENT) && by.contains("=") ? "event" : "application";
  }

  /** Names the text that says why a job that is due still waits. */
  private String why(QueueName queue) {
    return statistics.look(queue).map(QueueHealth::reason).orElse("scan");
  }

  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/run")
  String run(JobRef job, RedirectAttributes redirect) {
    var unused = jobs.run(job, null).orThrow();
    return done("run", job, redirect);
  }

  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/cancel")
  String cancel(JobRef job, RedirectAttributes redirect) {
    var unused = jobs.cancel(job, null, /* interrupt= */ false).orThrow();
    return undoable("cancel", job, redirect);
  }

  /** Tells the attempt that has the job to stop. */
  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/interrupt")
  String interrupt(JobRef job, RedirectAttributes redirect) {
    var unused = jobs.cancel(job, null, /* interrupt= */ true).orThrow();
    return undoable("interrupt", job, redirect);
  }

  /** The message has a button that undoes the cancel, if that is possible. */
  private String undoable(String what, JobRef job, RedirectAttributes redirect) {
    JobView now = jobs.find(job);
    if (now.restorableUntil() != null || now.cancelling()) {
      redirect.addFlashAttribute("undo", "/console/jobs/" + job + "/restore");
    }
    return done(what, job, redirect);
  }

  /** Undoes a cancel. */
  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/restore")
  String restore(JobRef job, RedirectAttributes redirect) {
    var unused = jobs.restore(job).orThrow();
    return done("restore", job, redirect);
  }

  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/requeue")
  String requeue(JobRef job, RedirectAttributes redirect) {
    var unused = jobs.requeue(job, null).orThrow();
    return done("requeue", job, redirect);
  }

  /** Another time: a moment, or how long from now. What is none stays in its field. */
  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/reschedule")
  String reschedule(
      JobRef job,
      @RequestParam String when,
      Model model,
      RedirectAttributes redirect,
      HttpServletRequest request,
      HttpServletResponse response) {
    Due due;
    try {
      due = TimeWords.of(request).due("when", when);
    } catch (ApiException e) {
      response.setStatus(e.status());
      model.addAttribute("wrong", when.substring(0, Math.min(MAX_WHEN, when.length())));
      return show(job, /* whole= */ false, model);
    }
    var unused = jobs.revise(job, JobChange.due(due), null).orThrow();
    return done("reschedule", job, redirect);
  }

  /** Other params; refused if somebody else changed the job meanwhile. */
  @Allowed(Role.OPERATOR)
  @PostMapping(JOB + "/edit")
  String edit(
      JobRef job,
      @RequestParam String params,
      @RequestParam String version,
      RedirectAttributes redirect) {
    // A browser sends CRLF.
    JobChange change = JobChange.params(JobFields.params("params", params.replace("\r\n", "\n")));
    var unused = jobs.revise(job, change, EntityTag.versions(version)).orThrow();
    return done("edit", job, redirect);
  }

  private static String done(String what, JobRef job, RedirectAttributes redirect) {
    redirect.addFlashAttribute("told", what);
    return "redirect:/console/jobs/" + job;
  }

  /** All that match: first of all they are looked at, at an address of their own. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/bulk")
  String choose(
      @RequestParam MultiValueMap<String, String> form,
      @RequestParam BulkOperation.Action action,
      @RequestParam(defaultValue = "") String when,
      @RequestParam(defaultValue = "") String at,
      HttpServletRequest request) {
    TimeWords times = TimeWords.of(request);
    // What is acted on is what was seen: "an hour ago" counts from then.
    TimeWords seen = at.isEmpty() ? times : TimeWords.at(at);
    List<String> searches = chosen(form, "q", MAX_SEARCHES);
    List<JobSelection> jobs = new ArrayList<>();
    for (String search : searches) {
      JobFilter filter = JobQuery.parse(search, seen).asFilter();
      if (filter == null) {
        throw ApiException.invalid(
            "q",
            "must have state:, type: or tag:, and neither id: nor a word without a name; write a tag"
                + " as tag:...");
      }
      jobs.add(filter);
    }
    return preview(action, searches, when, jobs, times);
  }

  /** Those that were checked, of whatever queues: each has its application, type and id. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/bulk/checked")
  String check(
      @RequestParam MultiValueMap<String, String> form,
      @RequestParam(defaultValue = "") String q,
      @RequestParam BulkOperation.Action action,
      @RequestParam(defaultValue = "") String when,
      HttpServletRequest request) {
    Map<QueueName, List<String>> byQueue = new TreeMap<>();
    for (String job : chosen(form, "job", MAX_CHECKED)) {
      String[] names = job.split("/", -1);
      if (names.length != 3) {
        throw ApiException.invalid("job", "must be application/taskType/taskId");
      }
      byQueue
          .computeIfAbsent(
              JobRef.of(names[0], names[1], names[2]).queue(), any -> new ArrayList<>())
          .add(names[2]);
    }
    List<JobSelection> jobs = new ArrayList<>();
    byQueue.forEach((queue, ids) -> jobs.add(new JobIds(queue, ids)));
    return preview(action, List.of(q), when, jobs, TimeWords.of(request));
  }

  // One by one: a list among the parameters would be torn apart at the commas of a search.
  private static List<String> chosen(MultiValueMap<String, String> form, String name, int max) {
    // A group of dead letters has a search for each of its queues, a line each.
    List<String> chosen =
        form.getOrDefault(name, List.of()).stream().flatMap(String::lines).distinct().toList();
    if (chosen.isEmpty()) {
      throw ApiException.invalid(name, "is missing: check the boxes of those that are meant");
    } else if (chosen.size() > max) {
      throw ApiException.invalid(
          name, "must be at most " + max + " at once: check fewer, or search for what they share");
    }
    return chosen;
  }

  private String preview(
      BulkOperation.Action action,
      List<String> searches,
      String when,
      List<JobSelection> jobs,
      TimeWords times) {
    checkRole(action);
    if (action == BulkOperation.Action.RESTORE) {
      throw ApiException.invalid("action", "must not be RESTORE: undo an operation on its page");
    }
    Due due = action == BulkOperation.Action.RESCHEDULE ? times.due("when", when) : null;
    String shown =
        due == null ? "" : due.relative() ? when : when + " (" + times.told(due.millis()) + ")";
    return "redirect:/console/bulk/" + bulk.keep(action, jobs, due, searches, shown).getId();
  }

  /** What would be hit, before anything is. */
  @Allowed(Role.OPERATOR)
  @GetMapping("/console/bulk/{id}")
  String preview(@PathVariable String id, Model model) {
    BulkOperation operation = bulk.find(id);
    checkRole(operation.getAction());
    model.addAttribute("preview", operation);
    model.addAttribute("found", operation.preview());
    model.addAttribute("number", operation.getNumber());
    model.addAttribute("typed", operation.isNumberTyped());
    model.addAttribute("keptMinutes", bulk.undoMinutes());
    model.addAttribute("keptJobs", UndoLimits.JOBS_OF_OPERATIONS);
    return "bulk";
  }

  /** Begins, as fast as was said; where the number of jobs must be typed, once it was. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/bulk/{id}/begin")
  String begin(
      @PathVariable String id,
      @RequestParam(defaultValue = "") String perSecond,
      @RequestParam(defaultValue = "") String number,
      Model model,
      HttpServletResponse response) {
    BulkOperation operation = bulk.find(id);
    checkRole(operation.getAction());
    String rate = perSecond.strip();
    if (!rate.isEmpty() && !rate.matches("[1-9]\\d{0,5}")) {
      throw ApiException.invalid("perSecond", "must be a whole number from 1 to 999999, or empty");
    }
    // A button may be pressed twice.
    if (!operation.isBegun() && operation.isNumberTyped() && !isNumber(number, operation)) {
      response.setStatus(ErrorCode.INVALID.status());
      model.addAttribute("wrong", number.substring(0, Math.min(MAX_NUMBER, number.length())));
      model.addAttribute("perSecond", rate);
      return preview(id, model);
    }
    bulk.begin(operation, rate.isEmpty() ? 0 : Integer.parseInt(rate));
    return "redirect:/console/operations/" + id;
  }

  private static boolean isNumber(String typed, BulkOperation operation) {
    return SEPARATORS.matcher(typed).replaceAll("").equals(Integer.toString(operation.getNumber()));
  }

  private static void checkRole(BulkOperation.Action action) {
    if (action == BulkOperation.Action.PURGE && !Caller.current().is(Role.ADMIN)) {
      throw ApiException.of(ErrorCode.FORBIDDEN, "to purge needs the role admin");
    }
  }
}
