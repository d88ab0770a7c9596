package io.punctual.core.store.durability;

import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Marks in the store, one on each server, which show that it lost something. */
public interface EpochMarker {

  /** The names of older states begin with this. An older state may come back more than once. */
  String OLDER = "older ";

  /** Engines that notice the same older state do so within this time. */
  Duration SAME = Duration.ofSeconds(5);

  /**
   * The names of restarts begin with this. One server may come back to an address more than once.
   */
  String RESTARTED = "restarted ";

  /**
   * All engines notice a restart within this time. It is longer than {@link #SAME} because they
   * check for restarts less often.
   */
  Duration SAME_RESTART = Duration.ofMinutes(1);

  /**
   * Reads the mark of each server and moves it on; makes one where there is none. A node of a
   * cluster that does not answer is left out.
   *
   * @return that of the store first
   * @throws StoreException if the server with the mark of the store was not reached or refused
   */
  List<Epoch> advance();

  /**
   * Stores the current time as the time of the last look. Call it only after everything that the
   * look showed is stored: later engines compute from it how long no engine was running.
   *
   * @throws StoreException if the store was not reached or refused
   */
  void recordLook();

  /** Returns the marks that were advanced last, and those of nodes that did not answer. */
  Set<String> marks();

  /**
   * Keeps what was lost, for all engines and their successors.
   *
   * @param name the same for engines that noticed the same: it is kept once
   * @throws StoreException if the store was not reached or refused
   */
  void report(String name, StoreLoss loss);

  /**
   * What was lost and is not acknowledged yet, oldest first.
   *
   * @throws StoreException if the store was not reached
   */
  List<StoreLoss> losses();

  /**
   * An entry for the journal of losses.
   *
   * @param name the same for engines that noticed the same: it is added once
   * @param noticedAt the store's time, epoch ms
   * @param asOf epoch ms, see {@link LossEntry}; 0 if nothing is there
   */
  record Notice(String name, LossEntry.Kind kind, long noticedAt, long asOf) {}

  /**
   * Adds entries to the journal of losses; readers see all of them or none.
   *
   * @throws StoreException if the store was not reached or refused
   */
  void record(List<Notice> notices);

  /**
   * The newest entries of the journal of losses, oldest first.
   *
   * @throws StoreException if the store was not reached
   */
  List<LossEntry> journal();

  /**
   * Forgets what was reported.
   *
   * @throws StoreException if the store was not reached or refused
   */
  void acknowledge();
}
