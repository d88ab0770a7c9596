package io.punctual.benchmark.contest;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Something that runs jobs when they are due. Opened once; its store is its own. */
public interface Contender extends AutoCloseable {

  /**
   * A job.
   *
   * @param id unique within this run
   * @param payload ASCII, of 100 bytes in most parts
   * @param due epoch ms
   */
  record Job(String id, String payload, long due) {

    /** One of several queues, always the same. */
    public String anyOf(List<String> queues) {
      return queues.get(Math.floorMod(id.hashCode(), queues.size()));
    }
  }

  /** Name, version and configuration, in a line. */
  String description();

  /** Connects and starts workers that pass each job's payload on. */
  void open(Consumer<String> handler) throws Exception;

  /** Stores one job in one call; called from many threads. */
  void submit(Job job) throws Exception;

  /** What the call for many jobs is; null when there is none. */
  default @Nullable String bulkCall() {
    return null;
  }

  /** Stores many jobs; called from a few threads. */
  default void bulk(List<Job> jobs) throws Exception {
    for (Job job : jobs) {
      submit(job);
    }
  }

  /** Jobs that are stored and not known to be done. */
  long pending() throws Exception;

  /** Removes all jobs where that is quick; else they stay, and later counts include them. */
  default void clear() throws Exception {}

  /** Lets the store settle after a load, before jobs become due. */
  default void settle() throws Exception {}

  /** The most jobs that it can drain in about ten seconds. */
  default int mostDrained() {
    return Integer.MAX_VALUE;
  }

  /** Bytes that the store holds now; negative if that cannot be told. */
  default long storeBytes() throws Exception {
    return -1;
  }

  @Override
  void close();
}
