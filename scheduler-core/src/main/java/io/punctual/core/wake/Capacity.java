package io.punctual.core.wake;

import io.punctual.core.Dispatcher;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.work.Defects;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Decides how many jobs may be claimed, and wakes the claimers that it refused. It alone counts the
 * dispatcher's capacity, the contents of open deliveries, the results that wait for the store, and
 * the places of a queue with a concurrency limit.
 *
 * <p>A claimer is remembered as refused before the dispatcher is asked, and woken when anything is
 * given back that may let it claim. So no wake-up is lost between the question and the answer.
 */
public final class Capacity {

  /** The most results of one bucket that may wait for the store before claims stop. */
  static final int MAX_UNWRITTEN = 10_000;

  private static final long LEAST_BYTES = 8L << 20;
  // Of a byte stored a handful is made: the record, its text, the request.
  private static final int PART_OF_HEAP = 16;

  private final Dispatcher dispatcher;
  private final Defects defects;
  private final long maxBytes;
  private final Function<Bucket, String> nodes;
  private final Map<QueueName, Queue> queues = new HashMap<>();
  private final Pool all = new Pool();
  private final Map<String, Long> bytesOf = new HashMap<>();
  private long bytes;

  /** Capacity that claims take from at the same time: of one queue, or of the dispatcher in all. */
  private static final class Pool {
    final Map<String, Integer> takenAt = new HashMap<>();
    final Map<Bucket, String> nodeOf = new HashMap<>();
    boolean severalNodes;
    int taken;
    long given;

    /** Notes where a bucket is; empty if that is not known yet. */
    void locate(Bucket bucket, String node) {
      if (!node.isEmpty() && !node.equals(nodeOf.put(bucket, node))) {
        severalNodes = new HashSet<>(nodeOf.values()).size() > 1;
      }
    }

    /** Returns how much of an offer is left for a claim at a node. */
    int free(int offered, String node) {
      int free = offered - taken;
      return severalNodes
          ? Math.min(free, Math.max(1, offered / 2) - takenAt.getOrDefault(node, 0))
          : free;
    }

    void take(int jobs, String node) {
      taken += jobs;
      takenAt.merge(node, jobs, Integer::sum);
    }

    void give(int jobs, String node) {
      taken -= jobs;
      takenAt.merge(node, -jobs, (sum, less) -> sum + less == 0 ? null : sum + less);
      given++;
    }
  }

  /** The state that all claimers of one queue share. */
  private static final class Queue {
    final Set<Claimer> refused = new LinkedHashSet<>();
    final Pool pool = new Pool();
    final String duty;

    Queue(QueueName name) {
      duty = "the dispatcher's capacity for " + name;
    }
  }

  /**
   * @param maxBytes of the contents of all open deliveries. One application may have half of it, so
   *     that the large jobs of a slow one leave the other half to the others. It is asked whether
   *     more may be claimed, not whether this much: claims that are made at the same time may
   *     exceed it, by {@link io.punctual.core.store.JobStore#MAX_CLAIMED_BYTES} each
   * @param nodes returns the name of the store's node that holds a bucket
   */
  public Capacity(
      Dispatcher dispatcher, Defects defects, long maxBytes, Function<Bucket, String> nodes) {
    this.dispatcher = dispatcher;
    this.defects = defects;
    this.maxBytes = maxBytes;
    this.nodes = nodes;
  }

  /** Returns the limit that fits this process's heap. */
  public static long bytesOfHeap() {
    return Math.max(LEAST_BYTES, Runtime.getRuntime().maxMemory() / PART_OF_HEAP);
  }

  /** Makes the claimer of one bucket. It is woken by the signal. */
  public Claimer claimer(Bucket bucket, WakeSignal signal) {
    synchronized (this) {
      return new Claimer(bucket, queues.computeIfAbsent(bucket.queue(), Queue::new), signal);
    }
  }

  /** Wakes the refused claimers of a queue: its dispatcher may take more, or a pull waits. */
  public void changed(QueueName name) {
    wake(refusedOf(name));
  }

  private synchronized List<Claimer> refusedOf(QueueName name) {
    Queue queue = queues.get(name);
    return queue == null ? List.of() : takeAll(queue.refused);
  }

  private static List<Claimer> takeAll(Collection<Claimer> refused) {
    if (refused.isEmpty()) {
      return List.of();
    }
    List<Claimer> all = List.copyOf(refused);
    refused.clear();
    return all;
  }

  private static void wake(List<Claimer> claimers) {
    claimers.forEach(claimer -> claimer.signal.capacity());
  }

  private boolean bytesLeft(String application) {
    return bytes < maxBytes && bytesOf.getOrDefault(application, 0L) < maxBytes / 2;
  }

  /** Lists what is taken or open now; empty when all was given back. For tests. */
  public synchronized List<String> inUse() {
    List<String> found = new ArrayList<>();
    queues.forEach(
        (name, queue) -> {
          if (queue.pool.taken != 0) {
            found.add("capacity of " + name + ": " + queue.pool.taken);
          }
        });
    if (bytes != 0 || !bytesOf.isEmpty()) {
      found.add("bytes of contents: " + bytes + " " + bytesOf);
    }
    return found;
  }

  /** Takes and gives back the capacity of one bucket. */
  public final class Claimer {

    private final Bucket bucket;
    private final QueueName name;
    private final Queue queue;
    private final WakeSignal signal;
    private String node = "";
    private boolean shared;
    private int unwritten;
    private long ends;
    private boolean waitsForEnd;

    private Claimer(Bucket bucket, Queue queue, WakeSignal signal) {
      this.bucket = bucket;
      this.name = bucket.queue();
      this.queue = queue;
      this.signal = signal;
    }

    /**
     * Takes capacity for some jobs, to be given back by {@link #give} once they are with the
     * dispatcher. If buckets that share the capacity are on several nodes, the claims at one node
     * take half of what is free at most, so that a node that hangs does not hold the capacity of
     * all.
     *
     * @param max most jobs
     * @return for how many; 0 if it is refused: its signal is raised when it may ask again
     */
    public int take(int max) {
      String now = nodes.apply(bucket);
      while (true) {
        long given;
        long givenInAll;
        synchronized (Capacity.this) {
          queue.refused.add(this);
          if (unwritten >= MAX_UNWRITTEN || !bytesLeft(name.application())) {
            return 0;
          }
          given = queue.pool.given;
          givenInAll = all.given;
        }
        int offered;
        int offeredInAll;
        // Not under the lock: dispatchers call this class under their own locks.
        try {
          offered = dispatcher.capacity(name);
          offeredInAll = dispatcher.capacity();
          defects.worked(queue.duty);
        } catch (RuntimeException | Error e) {
          defects.met(queue.duty, e);
          return 0;
        }
        boolean shares = offeredInAll != Dispatcher.UNBOUNDED;
        synchronized (Capacity.this) {
          // What was given back meanwhile may be counted in the offer, as with the dispatcher.
          if (given == queue.pool.given && (!shares || givenInAll == all.given)) {
            queue.pool.locate(bucket, now);
            int free = Math.min(max, queue.pool.free(offered, now));
            if (shares) {
              all.locate(bucket, now);
              free = Math.min(free, all.free(offeredInAll, now));
            }
            if (free <= 0) {
              return 0;
            }
            node = now;
            shared = shares;
            queue.pool.take(free, node);
            if (shared) {
              all.take(free, node);
            }
            queue.refused.remove(this);
            return free;
          }
        }
      }
    }

    /** Gives back capacity: so many jobs are with the dispatcher by now, or were not found. */
    public void give(int jobs) {
      List<Claimer> woken;
      synchronized (Capacity.this) {
        queue.pool.give(jobs, node);
        if (shared) {
          all.give(jobs, node);
          woken = new ArrayList<>();
          queues.values().forEach(any -> woken.addAll(takeAll(any.refused)));
        } else {
          woken = takeAll(queue.refused);
        }
      }
      wake(woken);
    }

    /** Counts the contents of opened deliveries, in bytes. */
    public void opened(long contents) {
      synchronized (Capacity.this) {
        bytes += contents;
        bytesOf.merge(name.application(), contents, Long::sum);
      }
    }

    /** Gives back the contents of closed deliveries, in bytes. */
    public void closed(long contents) {
      List<Claimer> woken = new ArrayList<>();
      synchronized (Capacity.this) {
        boolean before = bytesLeft(name.application());
        boolean full = bytes >= maxBytes;
        bytes -= contents;
        bytesOf.merge(name.application(), -contents, Long::sum);
        bytesOf.remove(name.application(), 0L);
        if (full && bytes < maxBytes) {
          queues.values().forEach(any -> woken.addAll(takeAll(any.refused)));
        } else if (!before && bytesLeft(name.application())) {
          queues.forEach(
              (other, any) -> {
                if (other.application().equals(name.application())) {
                  woken.addAll(takeAll(any.refused));
                }
              });
        }
      }
      wake(woken);
    }

    /** Counts results that wait for the store. */
    public void ending(int jobs) {
      synchronized (Capacity.this) {
        unwritten += jobs;
      }
    }

    /** Gives back results that the store has taken, or that were dropped. */
    public void written(int jobs) {
      boolean woken;
      synchronized (Capacity.this) {
        boolean full = unwritten >= MAX_UNWRITTEN;
        unwritten -= jobs;
        woken = full && unwritten < MAX_UNWRITTEN && queue.refused.remove(this);
      }
      if (woken) {
        signal.capacity();
      }
    }

    /** Returns how many jobs have left their places so far; to be called before a claim. */
    public long ends() {
      synchronized (Capacity.this) {
        return ends;
      }
    }

    /** Counts jobs of the bucket that have left their places in the store. */
    public void ended(int jobs) {
      boolean woken;
      synchronized (Capacity.this) {
        ends += jobs;
        woken = waitsForEnd && jobs > 0;
        waitsForEnd &= !woken;
      }
      if (woken) {
        signal.head(Long.MIN_VALUE);
      }
    }

    /**
     * Handles the answer of a claim.
     *
     * @param full whether the store lets no more jobs of the bucket out: then the signal is raised
     *     when one ends
     * @param before what {@link #ends} said before the claim
     */
    public void claimed(boolean full, long before) {
      boolean ended;
      synchronized (Capacity.this) {
        ended = full && ends != before;
        waitsForEnd = full && !ended;
      }
      if (ended) {
        // It may have ended between the script and its answer.
        signal.head(Long.MIN_VALUE);
      }
    }
  }
}
