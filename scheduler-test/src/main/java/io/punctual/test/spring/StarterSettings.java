package io.punctual.test.spring;

import io.punctual.spring.Transactions;
import io.punctual.spring.WorkerSettings;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the application sets for its starter and what counts in its tests, too. Knows no class of
 * theirs: one of them may not be there.
 *
 * @param workers by task type
 * @param elsewhere the task types that are left to other instances
 */
record StarterSettings(
    Transactions transactions, Map<String, WorkerSettings> workers, Set<String> elsewhere) {

  /** Those of all starters on the class path; an application sets something for one of them. */
  static StarterSettings together(List<StarterSettings> starters) {
    Transactions transactions = Transactions.AFTER_COMMIT;
    Map<String, WorkerSettings> workers = new HashMap<>();
    Set<String> elsewhere = new HashSet<>();
    for (StarterSettings starter : starters) {
      if (starter.transactions != Transactions.AFTER_COMMIT) {
        transactions = starter.transactions;
      }
      starter.workers.forEach((type, worker) -> workers.merge(type, worker, WorkerSettings::or));
      elsewhere.addAll(starter.elsewhere);
    }
    return new StarterSettings(transactions, workers, elsewhere);
  }

  /** What is set for a task type. */
  WorkerSettings worker(String taskType) {
    return workers.getOrDefault(taskType, WorkerSettings.NONE);
  }
}
