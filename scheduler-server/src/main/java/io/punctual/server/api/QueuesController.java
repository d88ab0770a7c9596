package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.engine.Engine;
import io.punctual.core.engine.QueueStats;
import io.punctual.core.queue.QueueName;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Queues: which there are, and how full they are. */
@RestController
@RequestMapping("/api/v1/queues")
class QueuesController {

  private static final int MAX_PAGE = 500;

  private final Engine engine;

  QueuesController(Engine engine) {
    this.engine = engine;
  }

  /** Names in order; the cursor is the last name of the page before. */
  @GetMapping
  Map<String, Object> list(
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    int max = limit(limit);
    List<Map.Entry<QueueName, Integer>> found =
        engine.queues().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .filter(entry -> cursor == null || entry.getKey().toString().compareTo(cursor) > 0)
            .limit(max + 1L)
            .toList();
    Map<String, Object> page = new LinkedHashMap<>();
    page.put(
        "items",
        found.stream()
            .limit(max)
            .map(entry -> engine.stats(entry.getKey()).map(QueuesController::output))
            .flatMap(java.util.Optional::stream)
            .toList());
    page.put("nextCursor", found.size() > max ? found.get(max - 1).getKey().toString() : null);
    return page;
  }

  @GetMapping("/{application}/{taskType}")
  Map<String, Object> find(@PathVariable String application, @PathVariable String taskType) {
    QueueName queue = JobsController.queue(application, taskType);
    return engine
        .stats(queue)
        .map(QueuesController::output)
        .orElseThrow(
            () ->
                ApiException.of(
                    ErrorCode.NOT_FOUND,
                    "no queue " + queue + " is known: no job was ever submitted to it"));
  }

  private static Map<String, Object> output(QueueStats stats) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("application", stats.queue().application());
    out.put("taskType", stats.queue().taskType());
    out.put("buckets", stats.buckets());
    out.put("delayed", stats.delayed());
    out.put("ready", stats.ready());
    out.put("reserved", stats.reserved());
    out.put("dead", stats.dead());
    Long oldest = stats.oldestReady();
    out.put("oldestReadyAgeMs", oldest == null ? null : Math.max(0, stats.now() - oldest));
    Long next = stats.nextDue();
    out.put("nextDueAt", next == null ? null : Instant.ofEpochMilli(next).toString());
    out.put("parked", stats.parked());
    out.put("counters", stats.counters());
    return out;
  }

  private static int limit(@Nullable String limit) {
    if (limit == null) {
      return 100;
    }
    if (!limit.matches("\\d{1,3}")
        || Integer.parseInt(limit) < 1
        || Integer.parseInt(limit) > MAX_PAGE) {
      throw ApiException.invalid("limit", "must be between 1 and " + MAX_PAGE);
    }
    return Integer.parseInt(limit);
  }
}
