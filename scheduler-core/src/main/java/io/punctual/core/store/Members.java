package io.punctual.core.store;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The engines that work on the store, each kept by its heartbeats. */
public interface Members {

  /**
   * An engine.
   *
   * @param name unique, 1 to 200 characters without spaces
   * @param version of its program, 1 or more characters without spaces, {@code :} and {@code *}
   * @param serves the queues whose jobs it delivers; null for all
   */
  record Member(String name, String version, @Nullable Set<QueueName> serves) {

    /** Whether the engine delivers jobs of the queue. */
    public boolean serves(QueueName queue) {
      return serves == null || serves.contains(queue);
    }
  }

  /**
   * The other members.
   *
   * @param members in the order of their names
   * @param firstEnd when the first of them is missed unless its heartbeat comes before; null if
   *     there is none
   */
  record Others(List<Member> members, @Nullable Duration firstEnd) {}

  /**
   * A heartbeat. Tells the other members if this one is new.
   *
   * @param life after which the member is missed unless it sends another one
   * @throws StoreException if the store was not reached or refused
   */
  Others beat(Member member, Duration life);

  /**
   * Removes a member, and tells the others.
   *
   * @throws StoreException if the store was not reached or refused
   */
  void leave(Member member);

  /**
   * Tells the others that a job is due and this engine has no capacity for it. A hint, as {@link
   * WakeUps} are.
   *
   * @param due its due time, epoch ms
   * @throws StoreException if the store was not reached or refused
   */
  void offer(Bucket bucket, long due);
}
