package io.punctual.server.api;

import io.punctual.server.security.Allowed;
import io.punctual.server.security.AuditLog;
import io.punctual.server.security.Role;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Who did what. */
@RestController
class AuditController {

  private static final int MAX_PAGE = 500;

  private final AuditLog audit;

  AuditController(AuditLog audit) {
    this.audit = audit;
  }

  /** The newest first. */
  @Allowed(Role.OPERATOR)
  @GetMapping("/api/v1/audit")
  Map<String, Object> list(
      @RequestParam(required = false) @Nullable String before,
      @RequestParam(required = false) @Nullable String limit) {
    int max = Paging.limit(limit, MAX_PAGE);
    List<AuditLog.Entry> entries = audit.newest(JsonFields.moment("before", before), max);
    return Paging.page(
        entries, entries.size() < max ? null : nextBefore(entries.get(entries.size() - 1)));
  }

  private static String nextBefore(AuditLog.Entry oldest) {
    return Long.toString(Instant.parse(oldest.at()).toEpochMilli());
  }
}
