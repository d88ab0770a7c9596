package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.store.StoreException;
import io.punctual.server.health.Finding;
import io.punctual.server.health.HealthChecks;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.history.History;
import io.punctual.server.history.Span;
import io.punctual.server.jobs.LossService;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.text.Printable;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.support.RequestContextUtils;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Is everything on time? */
@Controller
class OverviewController {

  private static final int OPEN = 5;

  private final QueueStatistics statistics;
  private final Engine engine;
  private final LossService losses;
  private final HealthChecks health;
  private final History history;
  private final LoadAhead loads;

  OverviewController(
      QueueStatistics statistics,
      Engine engine,
      LossService losses,
      HealthChecks health,
      History history,
      LoadAhead loads) {
    this.health = health;
    this.statistics = statistics;
    this.engine = engine;
    this.losses = losses;
    this.history = history;
    this.loads = loads;
  }

  /**
   * Everything, or the live part alone.
   *
   * @param part {@code live} for a page that has its charts
   * @param range how much of the past is drawn
   * @param ahead how far ahead the load is drawn
   */
  @Allowed(Role.VIEWER)
  @GetMapping({"/console", "/console/"})
  String show(
      @RequestParam(defaultValue = "") String part,
      @RequestParam(defaultValue = "") String range,
      @RequestParam(defaultValue = "") String ahead,
      HttpServletRequest request,
      Model model) {
    QueueStatistics.Snapshot now = statistics.all();
    List<Finding> findings = health.problems(now);
    model.addAttribute("base", ServletUriComponentsBuilder.fromCurrentContextPath().toUriString());
    model.addAttribute("queues", now.queues().size());
    model.addAttribute("samples", now.queues());
    model.addAttribute("delayed", now.sum(row -> row.stats().delayed()));
    model.addAttribute("ready", now.sum(row -> row.stats().ready()));
    model.addAttribute("reserved", now.sum(row -> row.stats().reserved()));
    model.addAttribute("dead", now.sum(row -> row.stats().dead()));
    model.addAttribute("done", now.rate("done"));
    model.addAttribute("failed", now.rate("failed") + now.rate("rejected") + now.rate("unknown"));
    model.addAttribute("submitted", now.rate("submitted"));
    model.addAttribute("lateness", now.lateness());
    long urgent = findings.stream().filter(Finding::urgent).count();
    // The others fold away behind the first few.
    long open = Math.max(urgent, Math.min(findings.size(), OPEN));
    model.addAttribute("findings", findings.subList(0, (int) open));
    model.addAttribute("folded", findings.subList((int) open, findings.size()));
    model.addAttribute("urgent", urgent);
    List<QueueSample> withDead = QueueHealth.withDead(now.all());
    model.addAttribute("deadQueues", withDead.subList(0, Math.min(OPEN, withDead.size())));
    model.addAttribute("deadIn", withDead.size());
    model.addAttribute("deadInHour", now.sum(row -> row.stats().deadInHour()));
    model.addAttribute("now", now.now());
    model.addAttribute("store", engine.storeHealth());
    if (!part.equals("live") && !now.queues().isEmpty()) {
      draw(range, ahead, request, model);
    }
    return "overview";
  }

  /** The charts alone, for a page that shows them already. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/charts")
  String charts(
      @RequestParam(defaultValue = "") String range,
      @RequestParam(defaultValue = "") String ahead,
      HttpServletRequest request,
      Model model) {
    draw(range, ahead, request, model);
    return "overview :: charts";
  }

  // While Redis does not answer, the rest of the page says so.
  private void draw(String range, String ahead, HttpServletRequest request, Model model) {
    ZoneId zone = TimeWords.of(request).now().getZone();
    Span span = Span.of(range).orElse(Span.HOUR);
    LoadAhead.Ahead chosen = LoadAhead.Ahead.of(ahead);
    model.addAttribute("range", span.word());
    model.addAttribute("ahead", chosen.word());
    model.addAttribute("ranges", Span.values());
    model.addAttribute("aheads", LoadAhead.Ahead.values());
    String error = engine.storeHealth().error();
    if (error != null) {
      // Viewers would wait for it one behind the other.
      model.addAttribute("away", Printable.of(error));
      return;
    }
    try {
      model.addAttribute("past", new Timeline(history.read(span), zone));
    } catch (DataAccessException e) {
      model.addAttribute("away", Printable.of(String.valueOf(e.getMessage())));
    }
    try {
      model.addAttribute(
          "load", new LoadChart(loads.get(chosen), zone, RequestContextUtils.getLocale(request)));
    } catch (StoreException e) {
      model.addAttribute("loadAway", Printable.of(String.valueOf(e.getMessage())));
    }
  }

  /** Asks applications to send again all that they have kept. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/console/losses/resend")
  String resend() {
    var unused = losses.requestResend(Instant.EPOCH);
    return "redirect:/console";
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/console/losses/acknowledge")
  String acknowledge() {
    losses.acknowledge();
    return "redirect:/console";
  }
}
