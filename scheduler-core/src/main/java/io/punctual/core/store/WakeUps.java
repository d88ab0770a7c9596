package io.punctual.core.store;

import io.punctual.core.job.Bucket;

/**
 * Hints from the store and other engines, above all that a bucket got a new earliest job. Hints
 * only: any of them may be lost, doubled or late.
 */
public interface WakeUps {

  /**
   * Listens until closed, reconnecting by itself.
   *
   * @return ends the listening
   */
  AutoCloseable listen(Listener listener);

  /** Called from the listening thread; must return at once. */
  interface Listener {

    /**
     * A job became the earliest of its bucket.
     *
     * @param due epoch ms
     */
    void newHead(Bucket bucket, long due);

    /**
     * A job is due, and the engine that should claim it has no capacity.
     *
     * @param due epoch ms
     */
    void offered(Bucket bucket, long due);

    /** The holder of a job is to stop. */
    void cancelling(Bucket bucket, String taskId);

    /** An engine has come or gone. */
    void membersChanged();

    /** Hints may have been lost: the connection was made, or made again. */
    void gap();

    /** Hints are lost from now on until {@link #gap}. Called again and again meanwhile. */
    void lost();
  }
}
