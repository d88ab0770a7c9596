package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.server.health.Finding;
import io.punctual.server.health.HealthChecks;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.LossService;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Is everything on time? */
@Controller
class OverviewController {

  private static final int INTERVALS = 60;
  private static final int OPEN = 5;
  private static final Duration MAX_WITHIN = Duration.ofDays(366);

  private final QueueStatistics statistics;
  private final Engine engine;
  private final QueueService queues;
  private final LossService losses;
  private final HealthChecks health;

  OverviewController(
      QueueStatistics statistics,
      Engine engine,
      QueueService queues,
      LossService losses,
      HealthChecks health) {
    this.health = health;
    this.statistics = statistics;
    this.engine = engine;
    this.queues = queues;
    this.losses = losses;
  }

  @Allowed(Role.VIEWER)
  @GetMapping({"/console", "/console/"})
  String show(Model model) {
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
    return "overview";
  }

  /** The points of the live chart. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/pulse")
  @ResponseBody
  Map<String, Object> pulse() {
    var unused = statistics.all();
    return Map.of("samples", statistics.moments());
  }

  /** How many jobs fall due when. */
  @Allowed(Role.VIEWER)
  @GetMapping("/console/load")
  @ResponseBody
  Map<String, Object> load(@RequestParam(defaultValue = "1h") String within) {
    Duration span = JobFields.duration("within", within, Duration.ofSeconds(1), MAX_WITHIN);
    Duration width = Objects.requireNonNull(span).dividedBy(INTERVALS);
    QueueService.Load load = queues.forecast(null, null, width, INTERVALS);
    long from = load.forecast().now();
    Map<String, Object> points = new HashMap<>();
    points.put("from", from == 0 ? null : Instant.ofEpochMilli(from).toString());
    points.put("intervalMs", width.toMillis());
    points.put("counts", load.forecast().counts());
    return points;
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
