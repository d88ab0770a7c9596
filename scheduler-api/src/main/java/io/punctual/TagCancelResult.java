package io.punctual;

import java.util.List;

/**
 * The results of a cancel by tag: each job has its own outcome.
 *
 * @param items the jobs that were found, by task type and id. Where the call had to be repeated
 *     because its answer was lost, those that the first one cancelled may be missing
 * @param onCommit whether the call was made inside of a transaction: the jobs are cancelled when
 *     that has committed, the scheduler has not been asked yet, and there are no items
 */
public record TagCancelResult(List<Item> items, boolean onCommit) {

  /** Copies the items. */
  public TagCancelResult {
    items = List.copyOf(items);
  }

  /** What became of these jobs. */
  public static TagCancelResult of(List<Item> items) {
    return new TagCancelResult(items, false);
  }

  /** One of the jobs. */
  public record Item(String taskType, String taskId, CancelResult.Outcome outcome) {}

  /** How many are certain not to run. */
  public long cancelled() {
    return items.stream().filter(item -> item.outcome() == CancelResult.Outcome.CANCELLED).count();
  }
}
