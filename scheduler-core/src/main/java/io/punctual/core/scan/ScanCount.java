package io.punctual.core.scan;

import io.punctual.core.job.Bucket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the scanners of one engine as they start and end: there may be tens of thousands. */
public final class ScanCount {

  private final AtomicInteger running = new AtomicInteger();
  private final Set<String> ended = ConcurrentHashMap.newKeySet();

  void started() {
    running.incrementAndGet();
  }

  void ended(Bucket bucket, boolean stopped) {
    running.decrementAndGet();
    if (!stopped) {
      ended.add(bucket.toString());
    }
  }

  /** Returns the number of scanners that run. */
  public int running() {
    return running.get();
  }

  /** Returns the buckets whose scanners have ended without having been stopped, sorted by name. */
  public List<String> ended() {
    return ended.stream().sorted().toList();
  }
}
