package io.punctual.server.console;

import io.punctual.core.Schedules;
import io.punctual.core.job.JobState;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.query.JobView;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.ScheduleRequest;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.ScheduleService;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/** Recurring schedules: all of them, one, its editor, and what can be done to one. */
@Controller
class SchedulePageController {

  private static final String SCHEDULES = "/console/schedules";
  private static final String SCHEDULE = SCHEDULES + "/{application}/{taskType}/{scheduleId}";
  private static final int PAGE = 50;
  private static final int NEXT = 20;
  private static final int LAST = 10;
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");

  private final ScheduleService schedules;

  SchedulePageController(ScheduleService schedules) {
    this.schedules = schedules;
  }

  /**
   * A schedule in the list.
   *
   * @param fires its cron expression, or the distance of its instants
   * @param last null before the first run
   */
  record Row(
      Schedules.View schedule, String fires, String zone, ScheduleService.@Nullable Occurred last) {

    /** When it fires next; null while it is paused, and after its end. */
    public @Nullable Instant next() {
      return schedule.next();
    }

    /** Whether it fires no more. */
    public boolean ended() {
      return schedule.state().pausedSince() == null && schedule.state().planned() == null;
    }

    private boolean died() {
      JobView job = last == null ? null : last.job();
      return job != null && job.state() == JobState.DEAD;
    }

    private boolean unread() {
      return last != null && last.unread();
    }

    /** {@code api}, {@code code} or {@code orphaned}. */
    public String origin() {
      return schedule.origin().name().toLowerCase(Locale.ROOT);
    }
  }

  private Row row(Schedules.View schedule) {
    Recurrence recurrence = schedule.definition().recurrence();
    return new Row(
        schedule,
        recurrence.every() == null
            ? String.valueOf(recurrence.cron())
            : JobFields.text(recurrence.every()),
        ScheduleRequest.zoneName(recurrence.zone()),
        schedules.last(schedule));
  }

  /**
   * What the first line says.
   *
   * @param dead how many last runs are dead letters; -1 where that is not known
   * @param unread how many schedules or last runs cannot be read
   * @param scope 0 if these are all schedules, 1 all that match, 2 a page of them
   */
  record Head(int total, long dead, long paused, long unread, int scope) {

    static Head of(List<Row> rows, int damaged, int scope) {
      int total = rows.size() + damaged;
      long unread = damaged + rows.stream().filter(Row::unread).count();
      long dead = rows.stream().filter(Row::died).count();
      return new Head(
          total,
          total == 0 || (dead == 0 && unread > 0) ? -1 : dead,
          rows.stream().filter(row -> row.schedule.state().pausedSince() != null).count(),
          unread,
          scope);
    }
  }

  /** Whose schedules are listed; a page knows another thing as its application. */
  record Wanted(String application, String taskType) {}

  /** A page of the schedules, of all applications or of one. */
  @Allowed(Role.VIEWER)
  @GetMapping(SCHEDULES)
  String list(
      @RequestParam(defaultValue = "") String application,
      @RequestParam(defaultValue = "") String taskType,
      @RequestParam(required = false) @Nullable String cursor,
      Model model) {
    Schedules.Page page =
        schedules.list(
            JobFields.name("application", filled(application)),
            JobFields.name("taskType", filled(taskType)),
            cursor,
            PAGE);
    model.addAttribute("wanted", new Wanted(application, taskType));
    List<Row> rows = page.schedules().stream().map(this::row).toList();
    boolean part = cursor != null || page.next() != null;
    int scope = part ? 2 : (application + taskType).isBlank() ? 0 : 1;
    model.addAttribute("head", Head.of(rows, page.damaged().size(), scope));
    model.addAttribute("rows", rows);
    model.addAttribute("damaged", page.damaged());
    model.addAttribute("next", page.next());
    return "schedules";
  }

  private static @Nullable String filled(String text) {
    return text.isBlank() ? null : text.strip();
  }

  /**
   * An instant at which a schedule fires.
   *
   * @param local the same in the schedule's zone
   * @param note what the rules of the zone did to it; null for nothing
   */
  record Next(Instant at, String local, @Nullable String note) {

    static List<Next> of(List<Occurrence> next, ZoneId zone) {
      return next.stream()
          .map(
              one ->
                  new Next(
                      one.at(),
                      LocalDateTime.ofInstant(one.at(), zone).toString().replace('T', ' '),
                      one.note()))
          .toList();
    }
  }

  /** One schedule: what it is, when it fires, and what became of its last runs. */
  @Allowed(Role.VIEWER)
  @GetMapping(SCHEDULE)
  String show(ScheduleName name, Model model) {
    Schedules.View view = schedules.find(name);
    Recurrence recurrence = view.definition().recurrence();
    model.addAttribute("row", row(view));
    model.addAttribute("name", name);
    model.addAttribute("form", ScheduleRequest.form(view.definition()));
    // A pause has no end: what would be next is not what comes next.
    model.addAttribute(
        "coming",
        view.state().pausedSince() == null
            ? Next.of(schedules.next(view.definition(), null, NEXT), recurrence.zone())
            : List.of());
    model.addAttribute("last", schedules.occurred(view, LAST));
    return "schedule";
  }

  @Allowed(Role.OPERATOR)
  @PostMapping(SCHEDULE + "/pause")
  String pause(ScheduleName name, RedirectAttributes redirect) {
    var unused = schedules.pause(name, true);
    return done("schedule.paused", name, redirect);
  }

  @Allowed(Role.OPERATOR)
  @PostMapping(SCHEDULE + "/resume")
  String resume(ScheduleName name, RedirectAttributes redirect) {
    var unused = schedules.pause(name, false);
    return done("schedule.resumed", name, redirect);
  }

  /** A job besides those that are planned; its page comes next. */
  @Allowed(Role.OPERATOR)
  @PostMapping(SCHEDULE + "/run")
  String run(ScheduleName name, RedirectAttributes redirect) {
    Schedules.Run run = schedules.run(name);
    redirect.addFlashAttribute("told", "run");
    return "redirect:/console/jobs/" + name.queue() + "/" + run.taskId();
  }

  @Allowed(Role.ADMIN)
  @PostMapping(SCHEDULE + "/delete")
  String delete(ScheduleName name, RedirectAttributes redirect) {
    schedules.delete(name);
    redirect.addFlashAttribute("told", "schedule.deleted");
    return "redirect:" + SCHEDULES;
  }

  private static String done(String what, ScheduleName name, RedirectAttributes redirect) {
    redirect.addFlashAttribute("told", what);
    return "redirect:" + SCHEDULES + "/" + name;
  }

  /** Which jobs a backfill would submit, once its bounds are given. */
  @Allowed(Role.OPERATOR)
  @GetMapping(SCHEDULE + "/backfill")
  String backfill(
      ScheduleName name,
      @RequestParam(defaultValue = "") String from,
      @RequestParam(defaultValue = "") String until,
      @RequestParam(defaultValue = "") String limit,
      Model model) {
    Schedules.View view = schedules.find(name);
    model.addAttribute("name", name);
    model.addAttribute("from", from);
    model.addAttribute("until", until);
    model.addAttribute("limit", limit);
    if (!from.isBlank() || !until.isBlank()) {
      List<Occurrence> planned =
          schedules.planned(view, moment("from", from), moment("until", until), limit(limit));
      ZoneId zone = view.definition().recurrence().zone();
      model.addAttribute("planned", Next.of(planned, zone));
      model.addAttribute("zone", ScheduleRequest.zoneName(zone));
    }
    return "schedule-backfill";
  }

  @Allowed(Role.OPERATOR)
  @PostMapping(SCHEDULE + "/backfill")
  String submit(
      ScheduleName name,
      @RequestParam(defaultValue = "") String from,
      @RequestParam(defaultValue = "") String until,
      @RequestParam(defaultValue = "") String limit,
      RedirectAttributes redirect) {
    Schedules.Backfill done =
        schedules.backfill(name, moment("from", from), moment("until", until), limit(limit));
    redirect.addFlashAttribute("backfilled", done.runs().size());
    redirect.addFlashAttribute("left", done.next() == null ? null : done.next().toString());
    return "redirect:" + SCHEDULES + "/" + name;
  }

  private static Instant moment(String field, String text) {
    return Instant.ofEpochMilli(JobFields.required(field, JobFields.moment(field, filled(text))));
  }

  private static int limit(String text) {
    if (text.isBlank()) {
      return 100;
    } else if (!NUMBER.matcher(text.strip()).matches()) {
      throw ApiException.invalid("limit", "must be a whole number");
    }
    return JobFields.integer(
        "limit", Integer.valueOf(text.strip()), 100, 1, ScheduleService.MAX_BACKFILL);
  }

  /** The editor of a schedule that is not there yet. */
  @Allowed(Role.ADMIN)
  @GetMapping(SCHEDULES + "/new")
  String begin(
      @RequestParam(defaultValue = "") String application,
      @RequestParam(defaultValue = "") String taskType,
      Model model) {
    Map<String, String> form = new HashMap<>();
    form.put("application", application);
    form.put("taskType", taskType);
    form.put("zone", "UTC");
    return editor(form, null, null, model);
  }

  @Allowed(Role.ADMIN)
  @GetMapping(SCHEDULE + "/edit")
  String edit(ScheduleName name, Model model) {
    Schedules.View view = schedules.find(name);
    Map<String, String> form = named(ScheduleRequest.form(view.definition()), name);
    form.put("origin", view.origin().name().toLowerCase(Locale.ROOT));
    return editor(form, preview(form), null, model);
  }

  private static Map<String, String> named(Map<String, String> form, ScheduleName name) {
    Map<String, String> all = new HashMap<>(form);
    all.put("application", name.queue().application());
    all.put("taskType", name.queue().taskType());
    all.put("id", name.id());
    all.put("there", "true");
    return all;
  }

  /**
   * When a schedule fires that is being edited.
   *
   * @param error why it cannot be saved as it is; null if it can
   */
  record Preview(List<Next> next, String zone, @Nullable String error) {}

  private Preview preview(Map<String, String> form) {
    try {
      ScheduleDefinition definition = ScheduleRequest.of(form).definition();
      Recurrence recurrence = definition.recurrence();
      return new Preview(
          Next.of(schedules.preview(definition, null, NEXT), recurrence.zone()),
          ScheduleRequest.zoneName(recurrence.zone()),
          null);
    } catch (IllegalArgumentException e) {
      return new Preview(List.of(), "", JobFields.named(e).getMessage());
    } catch (ApiException e) {
      return new Preview(List.of(), "", e.getMessage());
    }
  }

  private static String editor(
      Map<String, String> form, @Nullable Preview preview, @Nullable String error, Model model) {
    model.addAttribute("form", form);
    model.addAttribute("there", form.containsKey("there"));
    model.addAttribute("preview", preview);
    model.addAttribute("error", error);
    return "schedule-edit";
  }

  /** The editor again, with the next instants of what is in it. Nothing is stored. */
  @Allowed(Role.ADMIN)
  @PostMapping(SCHEDULES + "/preview")
  String preview(@RequestParam Map<String, String> form, Model model) {
    return editor(form, preview(form), null, model);
  }

  @Allowed(Role.ADMIN)
  @PostMapping(SCHEDULES)
  String create(
      @RequestParam Map<String, String> form,
      Model model,
      RedirectAttributes redirect,
      HttpServletResponse response) {
    return save(form, true, model, redirect, response);
  }

  @Allowed(Role.ADMIN)
  @PostMapping(SCHEDULE + "/edit")
  String replace(
      ScheduleName name,
      @RequestParam Map<String, String> form,
      Model model,
      RedirectAttributes redirect,
      HttpServletResponse response) {
    var unused = schedules.find(name);
    return save(named(form, name), false, model, redirect, response);
  }

  private String save(
      Map<String, String> form,
      boolean create,
      Model model,
      RedirectAttributes redirect,
      HttpServletResponse response) {
    try {
      ScheduleName name =
          new ScheduleName(
              JobRef.queue(field(form, "application"), field(form, "taskType")), field(form, "id"));
      ScheduleDefinition definition = ScheduleRequest.of(form).definition();
      var unused = create ? schedules.create(name, definition) : schedules.put(name, definition);
      return done("schedule.saved", name, redirect);
    } catch (IllegalArgumentException e) {
      return refused(form, JobFields.named(e), model, response);
    } catch (ApiException e) {
      return refused(form, e, model, response);
    }
  }

  private static String field(Map<String, String> form, String field) {
    String text = filled(form.getOrDefault(field, ""));
    return JobFields.required(field, text);
  }

  /** The editor with what was typed, and what is wrong with it. */
  private String refused(
      Map<String, String> form, ApiException problem, Model model, HttpServletResponse response) {
    response.setStatus(problem.status());
    return editor(form, null, String.valueOf(problem.getMessage()), model);
  }
}
