package io.punctual.server.rest;

import io.punctual.core.Engine;
import io.punctual.core.LossJournal;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.server.jobs.LossService;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the jobs stand on, as this scheduler sees it. */
@RestController
@RequestMapping("/api/v1/store")
class StoreController {

  private static final int MAX_BODY = 1_000;

  private final Engine engine;
  private final LossService losses;

  StoreController(Engine engine, LossService losses) {
    this.engine = engine;
    this.losses = losses;
  }

  @Allowed(Role.VIEWER)
  @GetMapping
  Map<String, Object> show() {
    StoreHealth health = engine.storeHealth();
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("sound", !health.isBad());
    out.put("error", health.error());
    out.put("durability", health.durability());
    out.put("nodes", health.nodes().stream().map(StoreController::node).toList());
    out.put(
        "findings",
        health.findings().stream()
            .map(finding -> Map.of("unsafe", finding.unsafe(), "text", finding.text()))
            .toList());
    out.put("obstacles", health.obstacles());
    Instant begun = health.begun();
    out.put("begunAt", begun == null ? null : begun.toString());
    out.put(
        "losses",
        health.losses().stream()
            .map(loss -> Map.of("at", loss.at().toString(), "text", loss.text()))
            .toList());
    return out;
  }

  private static Map<String, Object> node(StoreNode node) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("address", node.address());
    out.put("version", node.version());
    out.put("replicas", node.replicas());
    out.put("persistence", node.persistence().name().toLowerCase(Locale.ROOT).replace('_', '-'));
    out.put("evictionPolicy", node.evictionPolicy());
    out.put("maxMemoryBytes", node.maxMemory());
    return out;
  }

  /** The journal of losses, for applications that keep what they sent. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/losses")
  Map<String, Object> losses() {
    return losses(engine.lossJournal());
  }

  /** Asks applications to send again what was acknowledged since a time. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/losses/resend")
  Map<String, Object> resend(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, MAX_BODY);
    Long since = fields.instant("since");
    fields.noMore();
    if (since == null) {
      throw ApiException.invalid("since", "is missing: from when on jobs shall be sent again");
    }
    return losses(losses.requestResend(Instant.ofEpochMilli(since)));
  }

  private static Map<String, Object> losses(LossJournal journal) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("store", journal.store());
    out.put("now", journal.now().toString());
    out.put("begunAt", journal.begun().toString());
    out.put("newest", journal.newest());
    out.put("losses", journal.entries().stream().map(StoreController::entry).toList());
    return out;
  }

  private static Map<String, Object> entry(LossEntry entry) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("sequence", entry.sequence());
    out.put("kind", entry.kind().name().toLowerCase(Locale.ROOT));
    out.put("noticedAt", entry.noticedAt().toString());
    Instant asOf = entry.asOf();
    out.put("asOf", asOf == null ? null : asOf.toString());
    return out;
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/losses/acknowledge")
  Map<String, Object> acknowledge() {
    losses.acknowledge();
    return show();
  }
}
