package io.punctual.server.rest;

import io.punctual.core.Engine;
import io.punctual.core.LossJournal;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.server.input.Body;
import io.punctual.server.jobs.LossService;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the jobs stand on, as this scheduler sees it. */
@RestController
@RequestMapping("/api/v1/store")
class StoreController {

  private final Engine engine;
  private final LossService losses;

  StoreController(Engine engine, LossService losses) {
    this.engine = engine;
    this.losses = losses;
  }

  record StoreResponse(
      boolean sound,
      @Nullable String error,
      String durability,
      List<Node> nodes,
      List<StoreNode.Finding> findings,
      List<String> obstacles,
      @Nullable Instant begunAt,
      List<StoreLoss> losses) {}

  record Node(
      String address,
      String version,
      int replicas,
      String persistence,
      @Nullable String evictionPolicy,
      @Nullable Long maxMemoryBytes,
      @Nullable Long usedMemoryBytes) {

    static Node of(StoreNode node) {
      return new Node(
          node.address(),
          node.version(),
          node.replicas(),
          node.persistence().name().toLowerCase(Locale.ROOT).replace('_', '-'),
          node.evictionPolicy(),
          node.maxMemory(),
          node.usedMemory());
    }
  }

  record Losses(
      @Nullable String store, Instant now, Instant begunAt, long newest, List<Loss> losses) {

    static Losses of(LossJournal journal) {
      return new Losses(
          journal.store(),
          journal.now(),
          journal.begun(),
          journal.newest(),
          journal.entries().stream()
              .map(
                  entry ->
                      new Loss(
                          entry.sequence(),
                          entry.kind().name().toLowerCase(Locale.ROOT),
                          entry.noticedAt(),
                          entry.asOf()))
              .toList());
    }
  }

  record Loss(long sequence, String kind, Instant noticedAt, @Nullable Instant asOf) {}

  record Resend(Instant since) {

    Resend {
      if (since == null) {
        throw ApiException.invalid("since", "is missing: from when on jobs shall be sent again");
      }
    }
  }

  @Allowed(Role.VIEWER)
  @GetMapping
  StoreResponse show() {
    StoreHealth health = engine.storeHealth();
    return new StoreResponse(
        !health.isBad(),
        health.error(),
        health.durability(),
        health.nodes().stream().map(Node::of).toList(),
        health.findings(),
        health.obstacles(),
        health.begun(),
        health.losses());
  }

  /** The journal of losses, for applications that keep what they sent. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/losses")
  Losses losses() {
    return Losses.of(engine.lossJournal());
  }

  /** Asks applications to send again what was acknowledged since a time. */
  @Allowed(Role.OPERATOR)
  @PostMapping("/losses/resend")
  Losses resend(@Body Resend resend) {
    return Losses.of(losses.requestResend(resend.since()));
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/losses/acknowledge")
  StoreResponse acknowledge() {
    losses.acknowledge();
    return show();
  }
}
