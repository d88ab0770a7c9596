package io.punctual.server.console;

import io.punctual.ErrorCode;
import io.punctual.server.api.ApiCalls;
import io.punctual.server.api.ApiException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.springframework.stereotype.Component;

/**
 * What somebody is about to do to many jobs, and what would become of them. Each has an address, so
 * that it can be looked at again; it is this scheduler's, and the oldest are forgotten.
 */
@Component
class Previews {

  private static final int KEPT = 200;

  private final ApiCalls calls;
  private final Map<String, Preview> all = new LinkedHashMap<>();

  Previews(ApiCalls calls) {
    this.calls = calls;
  }

  /**
   * What is to be done.
   *
   * @param searches the words that find the jobs, or found those that were checked
   * @param checked how many were checked; 0 where all are meant that the words find
   * @param when the new time as it was typed; empty where there is none
   * @param calls what the API takes, without limit and cursor
   */
  record Preview(
      String id,
      ApiCalls.Bulk action,
      List<String> searches,
      int checked,
      String when,
      List<Map<String, Object>> calls) {}

  /** One job, and what would become of it. */
  record Hit(String application, String taskType, String taskId, String outcome) {}

  /**
   * What would become of the jobs.
   *
   * @param more whether there are more than were looked at
   */
  record Hits(List<Hit> hits, Map<String, Integer> outcomes, boolean more) {}

  /** Keeps what somebody is about to do. */
  Preview keep(
      ApiCalls.Bulk action,
      List<String> searches,
      int checked,
      String when,
      List<Map<String, Object>> whatToCall) {
    Preview preview =
        new Preview(
            UUID.randomUUID().toString(),
            action,
            List.copyOf(searches),
            checked,
            when,
            List.copyOf(whatToCall));
    synchronized (all) {
      all.put(preview.id(), preview);
      while (all.size() > KEPT) {
        all.remove(all.keySet().iterator().next());
      }
    }
    return preview;
  }

  /**
   * The one of that id.
   *
   * @throws ApiException 404
   */
  Preview find(String id) {
    synchronized (all) {
      Preview preview = all.get(id);
      if (preview == null) {
        throw ApiException.of(
            ErrorCode.NOT_FOUND,
            "this scheduler knows no such preview: it is another one's, or was long ago; search the"
                + " jobs again");
      }
      return preview;
    }
  }

  /** Looks what would become of the jobs now; changes nothing. */
  Hits look(Preview preview) {
    // Two searches may find the same job.
    Set<Hit> hits = new LinkedHashSet<>();
    boolean more = false;
    for (Map<String, Object> call : preview.calls()) {
      Map<String, Object> fields = new LinkedHashMap<>(call);
      fields.put("dryRun", true);
      ApiCalls.Outcomes answer = calls.many(preview.action(), fields);
      more |= answer.nextCursor() != null;
      String application = String.valueOf(call.get("application"));
      for (ApiCalls.Outcome one : answer.items()) {
        hits.add(new Hit(application, one.taskType(), one.taskId(), one.outcome()));
      }
    }
    Map<String, Integer> outcomes = new TreeMap<>();
    hits.forEach(hit -> outcomes.merge(hit.outcome(), 1, Integer::sum));
    return new Hits(List.copyOf(hits), outcomes, more);
  }
}
