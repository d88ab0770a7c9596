package io.punctual.core.store.durability;

import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.List;

/** Looks at what the jobs stand on. */
public interface StoreInspector {

  /**
   * The Redis servers that hold jobs: one, or the masters of a cluster. For a master that does not
   * answer, this is its last known state.
   *
   * @throws StoreException if none was reached, or one refused
   */
  List<StoreNode> nodes();

  /**
   * Returns Redis's time, epoch ms. Changes nothing.
   *
   * @throws StoreException if Redis was not reached
   */
  long now();

  /** What changes must have reached before they are answered. */
  Durability durability();

  /**
   * Whether a node had each write on its disk before it answered, when the nodes were last read.
   * False if they could not be read.
   *
   * @param node its name; empty if there is one
   */
  boolean synced(String node);

  /**
   * Whether a replica had confirmed each change that was acknowledged through this store within
   * that time.
   */
  boolean allReplicated(Duration within);

  /**
   * Asks the replicas of each node that was used to confirm a write, for durability auto and for
   * confirmed ends, which go by the answers.
   *
   * @return what is wrong with that; empty where nothing goes by it
   * @throws StoreException if the store was not reached
   */
  List<StoreNode.Finding> replicas();

  /**
   * Returns what needs a fix in the Sentinels' settings; empty without Sentinels.
   *
   * @param lease how long a claim lasts unless extended
   */
  List<StoreNode.Finding> failOver(Duration lease);

  /** Why the wanted durability cannot be kept on these servers, and what to do; empty if it can. */
  List<String> obstacles(List<StoreNode> nodes);
}
