package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.store.StoreException;
import io.punctual.server.health.Finding;
import io.punctual.server.health.HealthChecks;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.history.History;
import io.punctual.server.history.Past;
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
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.context.request.ServletWebRequest;
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
  @Nullable String show(
      @RequestParam(defaultValue = "") String part,
      @RequestParam(defaultValue = "") String range,
      @RequestParam(defaultValue = "") String ahead,
      HttpServletRequest request,
      ServletWebRequest web,
      Model model) {
    QueueStatistics.Snapshot now = statistics.all();
    List<Finding> findings = health.problems(now);
    String error = engine.storeHealth().error();
    Drawn drawn =
        Drawn.of(
            request,
            "live",
            now.version(),
            now.lateness(),
            findings,
            error,
            error == null ? "" : Long.toString(now.now()));
    boolean live = part.equals("live");
    if (live && drawn.isThere(web)) {
      return null;
    }
    drawn.addTo(model, "liveTag");
    Figures figures = now.once(Figures.class, Figures::of);
    model.addAttribute("base", ServletUriComponentsBuilder.fromCurrentContextPath().toUriString());
    model.addAttribute("queues", now.queues().size());
    model.addAttribute("samples", now.queues());
    model.addAttribute("delayed", figures.delayed());
    model.addAttribute("ready", figures.ready());
    model.addAttribute("reserved", figures.reserved());
    model.addAttribute("dead", figures.dead());
    model.addAttribute("done", figures.done());
    model.addAttribute("failed", figures.failed());
    model.addAttribute("lateness", now.lateness());
    long urgent = findings.stream().filter(Finding::urgent).count();
    // The others fold away behind the first few.
    long open = Math.max(urgent, Math.min(findings.size(), OPEN));
    model.addAttribute("findings", findings.subList(0, (int) open));
    model.addAttribute("folded", findings.subList((int) open, findings.size()));
    model.addAttribute("urgent", urgent);
    model.addAttribute("deadQueues", figures.deadQueues());
    model.addAttribute("deadIn", figures.deadIn());
    model.addAttribute("deadInHour", figures.deadInHour());
    model.addAttribute("now", now.now());
    model.addAttribute("store", engine.storeHealth());
    if (!live && !now.queues().isEmpty()) {
      Charts charts = charts(range, ahead);
      charts.drawn(request).addTo(model, "chartsTag");
      draw(charts, request, model);
    }
    return "overview";
  }

  /** The sums over all queues, which all viewers share. */
  private record Figures(
      long delayed,
      long ready,
      long reserved,
      long dead,
      double done,
      double failed,
      List<QueueSample> deadQueues,
      int deadIn,
      long deadInHour) {

    static Figures of(QueueStatistics.Snapshot now) {
      List<QueueSample> withDead = QueueHealth.withDead(now.all());
      return new Figures(
          now.sum(row -> row.stats().delayed()),
          now.sum(row -> row.stats().ready()),
          now.sum(row -> row.stats().reserved()),
          now.sum(row -> row.stats().dead()),
          now.rate("done"),
          now.rate("failed") + now.rate("rejected") + now.rate("unknown"),
          List.copyOf(withDead.subList(0, Math.min(OPEN, withDead.size()))),
          withDead.size(),
          now.sum(row -> row.stats().deadInHour()));
    }
  }

  /** The charts alone, for a page that shows them already. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/charts")
  @Nullable String charts(
      @RequestParam(defaultValue = "") String range,
      @RequestParam(defaultValue = "") String ahead,
      HttpServletRequest request,
      ServletWebRequest web,
      Model model) {
    Charts charts = charts(range, ahead);
    Drawn drawn = charts.drawn(request);
    if (drawn.isThere(web)) {
      return null;
    }
    drawn.addTo(model, "chartsTag");
    draw(charts, request, model);
    return "overview :: charts";
  }

  /**
   * What the charts are drawn from.
   *
   * @param away why the history cannot be read; null if it can
   * @param loadAway why the load cannot be read; null if it can
   */
  private record Charts(
      Span span,
      LoadAhead.Ahead ahead,
      @Nullable Past past,
      @Nullable String away,
      LoadAhead.@Nullable Load load,
      @Nullable String loadAway) {

    Drawn drawn(HttpServletRequest request) {
      return Drawn.of(
          request, "charts", span, ahead, past == null ? null : past.seen(), away, load, loadAway);
    }
  }

  // While Redis does not answer, the rest of the page says so.
  private Charts charts(String range, String ahead) {
    Span span = Span.of(range).orElse(Span.HOUR);
    LoadAhead.Ahead chosen = LoadAhead.Ahead.of(ahead);
    String error = engine.storeHealth().error();
    if (error != null) {
      // Viewers would wait for it one behind the other.
      return new Charts(span, chosen, null, error, null, null);
    }
    Past past = null;
    String away = null;
    try {
      past = history.read(span);
    } catch (DataAccessException e) {
      away = String.valueOf(e.getMessage());
    }
    try {
      return new Charts(span, chosen, past, away, loads.get(chosen), null);
    } catch (StoreException e) {
      return new Charts(span, chosen, past, away, null, String.valueOf(e.getMessage()));
    }
  }

  private static void draw(Charts charts, HttpServletRequest request, Model model) {
    ZoneId zone = TimeWords.of(request).now().getZone();
    model.addAttribute("range", charts.span().word());
    model.addAttribute("ahead", charts.ahead().word());
    model.addAttribute("ranges", Span.values());
    model.addAttribute("aheads", LoadAhead.Ahead.values());
    if (charts.away() != null) {
      model.addAttribute("away", Printable.of(charts.away()));
    }
    if (charts.past() != null) {
      model.addAttribute("past", new Timeline(charts.past(), zone));
    }
    if (charts.load() != null) {
      model.addAttribute(
          "load", new LoadChart(charts.load(), zone, RequestContextUtils.getLocale(request)));
    }
    if (charts.loadAway() != null) {
      model.addAttribute("loadAway", Printable.of(charts.loadAway()));
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
