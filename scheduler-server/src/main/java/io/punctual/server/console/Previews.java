package io.punctual.server.console;

import io.punctual.ErrorCode;
import io.punctual.core.store.StoreException;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.BulkOperations.Order;
import io.punctual.server.problem.ApiException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Bulk operations that an operator is about to begin, and what would become of the jobs. Each
 * preview has an address of its own, in this scheduler; the oldest are forgotten.
 */
@Component
class Previews {

  private static final int KEPT = 200;

  private final BulkOperations bulk;
  private final BulkWork work;
  private final Map<String, Preview> all = new LinkedHashMap<>();

  Previews(BulkOperations bulk, BulkWork work) {
    this.bulk = bulk;
    this.work = work;
  }

  /** An operation before it begins. */
  static final class Preview {

    private final String id = UUID.randomUUID().toString();
    private final List<Order> orders;
    private final List<String> searches;
    private final int checked;
    private final String when;
    private BulkWork.@Nullable Work begun;

    private Preview(List<Order> orders, List<String> searches, int checked, String when) {
      this.orders = List.copyOf(orders);
      this.searches = List.copyOf(searches);
      this.checked = checked;
      this.when = when;
    }

    public String getId() {
      return id;
    }

    public BulkOperations.Action getAction() {
      return orders.get(0).action();
    }

    /** The words that find the jobs, or found those that were checked. */
    public List<String> getSearches() {
      return searches;
    }

    /** How many jobs were checked; 0 where the words find them. */
    public int getChecked() {
      return checked;
    }

    /** The new time as it was typed; empty where there is none. */
    public String getWhen() {
      return when;
    }
  }

  /** One job, and what would become of it. */
  record Hit(String application, String taskType, String taskId, String outcome) {}

  /**
   * What would become of the jobs.
   *
   * @param more whether there are more than were looked at
   */
  record Hits(List<Hit> hits, Map<String, Integer> outcomes, boolean more) {}

  /**
   * Keeps an operation that is about to begin.
   *
   * @param orders at least one, all of the same action
   * @param searches see {@link Preview#getSearches}
   * @param checked see {@link Preview#getChecked}
   * @param when see {@link Preview#getWhen}
   */
  Preview keep(List<Order> orders, List<String> searches, int checked, String when) {
    Preview preview = new Preview(orders, searches, checked, when);
    synchronized (all) {
      all.put(preview.getId(), preview);
      while (all.size() > KEPT) {
        all.remove(all.keySet().iterator().next());
      }
    }
    return preview;
  }

  /** Begins the operation, unless it is under way already: a button may be pressed twice. */
  BulkWork.Work begin(Preview preview, int perSecond) {
    synchronized (preview) {
      BulkWork.Work begun = preview.begun;
      if (begun == null || begun.isOver()) {
        begun = work.begin(preview.orders, perSecond);
        preview.begun = begun;
      }
      return begun;
    }
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

  /**
   * Looks what would become of the jobs now; changes nothing.
   *
   * @throws StoreException if they cannot be looked at
   */
  Hits look(Preview preview) {
    // Two searches may find the same job.
    Set<Hit> hits = new LinkedHashSet<>();
    boolean more = false;
    for (Order order : preview.orders) {
      BulkOperations.Page page = bulk.preview(order, BulkOperations.MAX_PAGE, null);
      StoreException failure = page.failure();
      if (failure != null) {
        throw failure;
      }
      more |= page.next() != null;
      for (BulkOperations.Item item : page.items()) {
        hits.add(
            new Hit(
                item.queue().application(),
                item.queue().taskType(),
                item.taskId(),
                item.outcome()));
      }
    }
    Map<String, Integer> outcomes = new TreeMap<>();
    hits.forEach(hit -> outcomes.merge(hit.outcome(), 1, Integer::sum));
    return new Hits(List.copyOf(hits), outcomes, more);
  }
}
