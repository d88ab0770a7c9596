package io.punctual.core.store;

import java.time.Duration;
import java.util.List;

/** Marks in the store, one on each server, which show that it lost something. */
public interface EpochMarker {

  /** What the keys of older states begin with. */
  String OLDER = "older ";

  /** Engines that notice the same older state do so within this time. */
  Duration SAME = Duration.ofSeconds(5);

  /**
   * The key of an older state, which may come back more than once. Engines notice the same one at
   * different times; a key that is less than {@link #SAME} away is the same.
   *
   * @param noticedAt the store's time, epoch ms
   */
  static String older(String id, long noticedAt) {
    return OLDER + id + " " + noticedAt / SAME.toMillis();
  }

  /**
   * Reads the mark of each server and moves it on; makes one where there is none. A node of a
   * cluster that does not answer is left out.
   *
   * @return that of the store first
   * @throws StoreException if the server with the mark of the store was not reached or refused
   */
  List<Epoch> advance();

  /**
   * Keeps what was lost, for all engines and their successors.
   *
   * @param key the same for engines that saw the same: it is kept once
   * @throws StoreException if the store was not reached or refused
   */
  void report(String key, StoreLoss loss);

  /**
   * What was lost and is not acknowledged yet, oldest first.
   *
   * @throws StoreException if the store was not reached
   */
  List<StoreLoss> losses();

  /**
   * Adds to the journal of losses.
   *
   * @param key the same for engines that saw the same: it is added once
   * @param asOf epoch ms, see {@link LossEntry}; 0 if nothing is there
   * @throws StoreException if the store was not reached or refused
   */
  void record(String key, LossEntry.Kind kind, long noticedAt, long asOf);

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
