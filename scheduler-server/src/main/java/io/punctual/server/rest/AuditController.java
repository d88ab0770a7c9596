package io.punctual.server.rest;

import io.punctual.server.audit.AuditLog;
import io.punctual.server.audit.AuditTrail;
import io.punctual.server.input.JobFields;
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

  /** Lists what operators did that matches all that is given, the newest first. */
  @Allowed(Role.OPERATOR)
  @GetMapping("/api/v1/audit")
  Page<AuditLog.Entry> list(
      @RequestParam(required = false) @Nullable String operator,
      @RequestParam(required = false) @Nullable String action,
      @RequestParam(required = false) @Nullable String target,
      @RequestParam(required = false) @Nullable String from,
      @RequestParam(required = false) @Nullable String until,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    AuditTrail.Search search =
        new AuditTrail.Search(
            operator,
            action,
            target,
            JobFields.moment("from", from),
            JobFields.moment("until", until));
    AuditTrail.Page page = audit.list(search, cursor, Page.limit(limit, MAX_PAGE));
    return new Page<>(page.entries(), page.next());
  }
}
