package io.punctual.server.console;

import io.punctual.server.audit.AuditLog;
import io.punctual.server.audit.AuditTrail;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.operation.OperationRecord;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Dead letters, bulk operations, the audit, the login, and the way to all of it. */
@Controller
class OtherPagesController {

  private static final int AUDIT_PAGE = 100;
  private static final Duration DAY = Duration.ofHours(24);
  private static final Set<String> UNWELL = Set.of("failed", OperationRecord.INTERRUPTED);

  private final DeadLetters dead;
  private final BulkOperations bulk;
  private final AuditTrail audit;

  OtherPagesController(DeadLetters dead, BulkOperations bulk, AuditTrail audit) {
    this.dead = dead;
    this.bulk = bulk;
    this.audit = audit;
  }

  @Allowed(Role.VIEWER)
  @GetMapping("/console/dead")
  String deadLetters(@RequestParam(defaultValue = "newest") String sort, Model model) {
    model.addAttribute("found", dead.find(sort.equals("most")));
    model.addAttribute("sort", sort.equals("most") ? "most" : "newest");
    return "dead";
  }

  @Allowed(Role.VIEWER)
  @GetMapping("/console/operations")
  String operations(Model model) {
    BulkOperations.Begun begun = bulk.begun();
    List<OperationRecord> all = begun.all();
    model.addAttribute("all", all);
    model.addAttribute("running", all.stream().filter(work -> !work.over()).count());
    model.addAttribute("bad", all.stream().filter(work -> UNWELL.contains(work.state())).count());
    model.addAttribute("partial", begun.partial());
    return "operations";
  }

  @Allowed(Role.VIEWER)
  @GetMapping("/console/operations/{id}")
  String operation(@PathVariable String id, Model model) {
    if (bulk.isPreview(id)) {
      return "redirect:/console/bulk/" + id;
    }
    OperationRecord told = bulk.told(id);
    model.addAttribute("work", told);
    model.addAttribute("undoUntil", bulk.undoableUntil(told));
    return "operation";
  }

  /** Leads to the preview of an undo, which says how many of the operation's cancels it undoes. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/operations/{id}/undo")
  String undo(@PathVariable String id) {
    return "redirect:/console/bulk/" + bulk.undo(id).getId();
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/console/operations/{id}/stop")
  String stop(@PathVariable String id) {
    bulk.stop(id);
    return "redirect:/console/operations/" + id;
  }

  @Allowed(Role.OPERATOR)
  @GetMapping("/console/audit")
  String audit(
      @RequestParam(defaultValue = "") String operator,
      @RequestParam(defaultValue = "") String action,
      @RequestParam(defaultValue = "") String target,
      @RequestParam(defaultValue = "") String from,
      @RequestParam(defaultValue = "") String until,
      @RequestParam(required = false) @Nullable String cursor,
      Model model) {
    AuditTrail.Page page =
        audit.list(
            new AuditTrail.Search(
                operator,
                action,
                target,
                from.isBlank() ? null : JobFields.moment("from", from.strip()),
                until.isBlank() ? null : JobFields.moment("until", until.strip())),
            cursor,
            AUDIT_PAGE);
    model.addAttribute("lines", page.entries().stream().map(Line::of).toList());
    model.addAttribute("next", page.next());
    model.addAttribute("operator", operator);
    model.addAttribute("action", action);
    model.addAttribute("target", target);
    model.addAttribute("from", from);
    model.addAttribute("until", until);
    boolean searched = !(operator + action + target + from + until).isBlank();
    model.addAttribute("any", cursor != null || searched);
    model.addAttribute("head", Head.of(page, cursor != null, searched));
    return "audit";
  }

  /**
   * What the first line of the audit says.
   *
   * @param kind the end of the key of its text
   * @param entries how many entries it counts
   * @param operators how many operators made them
   */
  record Head(String kind, long entries, long operators) {

    static Head of(AuditTrail.Page page, boolean later, boolean searched) {
      List<AuditLog.Entry> all = page.entries();
      boolean whole = page.next() == null;
      if (later || searched) {
        return new Head(later ? "page" : whole ? "match" : "more", all.size(), 0);
      }
      Instant since = Instant.now().minus(DAY);
      List<AuditLog.Entry> day =
          all.stream().filter(entry -> !Instant.parse(entry.at()).isBefore(since)).toList();
      return new Head(
          whole || day.size() < all.size() ? "day" : "least",
          day.size(),
          day.stream().map(AuditLog.Entry::operator).distinct().count());
    }
  }

  /**
   * An entry of the audit, and where its target is shown.
   *
   * @param kind {@code operation}, {@code job}, {@code queue} or {@code schedule}; empty for none
   * @param names of the target, in the order of its address
   */
  record Line(AuditLog.Entry entry, String kind, List<String> names) {

    private static final Pattern NAMES =
        Pattern.compile("([\\w.:-]+)/([\\w.:-]+)(?:/([\\w.:@-]+))?");

    static Line of(AuditLog.Entry entry) {
      if (entry.operation() != null) {
        return new Line(entry, "operation", List.of(entry.operation()));
      }
      Matcher names = NAMES.matcher(entry.target());
      if (!names.matches()) {
        return new Line(entry, "", List.of());
      }
      String id = names.group(3);
      return id == null
          ? new Line(entry, "queue", List.of(names.group(1), names.group(2)))
          : new Line(
              entry,
              entry.action().endsWith(" schedule") ? "schedule" : "job",
              List.of(names.group(1), names.group(2), id));
    }
  }

  /** The address that people type. */
  @GetMapping("/")
  String root() {
    return "redirect:/console";
  }

  /** The way in; who is in already needs none. */
  @GetMapping("/console/login")
  String login(@RequestParam(required = false) @Nullable String error, Model model) {
    if (Caller.current().is(Role.VIEWER)) {
      return "redirect:/console";
    }
    model.addAttribute("error", error);
    return "login";
  }
}
