package io.punctual.server.jobs;

import io.punctual.core.Engine;
import io.punctual.core.LossJournal;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.server.audit.AuditLog;
import java.time.Instant;
import java.util.List;
import org.springframework.stereotype.Component;

/** Acts on what Redis lost, and records it in the audit. */
@Component
public class LossService {

  private final Engine engine;
  private final AuditLog audit;

  LossService(Engine engine, AuditLog audit) {
    this.engine = engine;
    this.audit = audit;
  }

  /** Asks applications to send again what was acknowledged since a time. */
  public LossJournal requestResend(Instant since) {
    LossJournal journal = engine.requestResend(since);
    audit.did("request resend", () -> "store", null, "since " + since);
    return journal;
  }

  /** Notes that an operator has dealt with the losses. */
  public void acknowledge() {
    List<StoreLoss> losses = engine.storeHealth().losses();
    engine.acknowledgeLosses();
    audit.did("acknowledge losses", () -> "store", losses.toString(), "none");
  }
}
