package io.punctual.server.rest;

import io.punctual.server.history.History;
import io.punctual.server.history.Past;
import io.punctual.server.history.Span;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The last day of all queues. */
@RestController
class HistoryController {

  private final History history;

  HistoryController(History history) {
    this.history = history;
  }

  record HistoryResponse(
      Instant from,
      Instant until,
      long intervalMs,
      int unreadable,
      List<IntervalResponse> intervals,
      List<MarkResponse> marks) {

    static HistoryResponse of(Past past) {
      return new HistoryResponse(
          Instant.ofEpochMilli(past.from()),
          Instant.ofEpochMilli(past.until()),
          past.span().width().toMillis(),
          past.unreadable(),
          past.intervals(past.span().width()).stream().map(IntervalResponse::of).toList(),
          past.marks().stream()
              .map(
                  mark ->
                      new MarkResponse(
                          Instant.ofEpochMilli(mark.at()), mark.kind().word(), mark.text()))
              .toList());
    }
  }

  /** An interval; all but its beginning is null if no scheduler sampled. */
  record IntervalResponse(
      Instant from,
      @Nullable Double submittedPerSecond,
      @Nullable Double donePerSecond,
      @Nullable Double failedPerSecond,
      @Nullable Double diedPerSecond,
      @Nullable Long notDue,
      @Nullable Long ready,
      @Nullable Long reserved,
      @Nullable Long latenessP50Ms,
      @Nullable Long latenessP99Ms) {

    static IntervalResponse of(Past.Interval interval) {
      Instant from = Instant.ofEpochMilli(interval.from());
      Past.Figures seen = interval.figures();
      return seen == null
          ? new IntervalResponse(from, null, null, null, null, null, null, null, null, null)
          : new IntervalResponse(
              from,
              rounded(seen.submitted()),
              rounded(seen.done()),
              rounded(seen.failed()),
              rounded(seen.died()),
              seen.notDue(),
              seen.ready(),
              seen.reserved(),
              seen.p50(),
              seen.p99());
    }

    private static Double rounded(double rate) {
      return Math.round(rate * 1_000) / 1_000.0;
    }
  }

  record MarkResponse(Instant at, String kind, String text) {}

  /** What all queues did lately. */
  @Allowed(Role.VIEWER)
  @GetMapping("/api/v1/history")
  HistoryResponse show(@RequestParam(required = false) @Nullable String range) {
    Span span =
        range == null
            ? Span.HOUR
            : Span.of(range)
                .orElseThrow(() -> ApiException.invalid("range", "must be 15m, 1h, 6h or 24h"));
    return HistoryResponse.of(history.read(span));
  }
}
