package io.punctual.server.rest;

import io.punctual.server.audit.AuditLog;
import io.punctual.server.audit.AuditTrail;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Who did what. */
@RestController
class AuditController {

  private static final int MAX_PAGE = 500;
  private final AuditTrail audit;

  AuditController(AuditTrail audit) {
    this.audit = audit;
  }

  /** Lists what operators did, the newest first. */
  @Allowed(Role.OPERATOR)
  @GetMapping("/api/v1/audit")
  Page<AuditLog.Entry> list(
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    AuditTrail.Page page = audit.list(cursor, Page.limit(limit, MAX_PAGE));
    return new Page<>(page.entries(), page.next());
  }
}
