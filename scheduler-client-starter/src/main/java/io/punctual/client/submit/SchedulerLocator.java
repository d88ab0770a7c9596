package io.punctual.client.submit;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Knows where schedulers are, and which of them did not answer lately. */
public final class SchedulerLocator {

  private final Supplier<List<URI>> known;
  private final Map<URI, Long> failures = new ConcurrentHashMap<>();

  /**
   * @param known the base addresses of all schedulers, as far as anybody knows now
   */
  public SchedulerLocator(Supplier<List<URI>> known) {
    this.known = known;
  }

  /** All schedulers, in random order, those that failed latest at the end. */
  public List<URI> schedulers() {
    List<URI> all = new ArrayList<>(known.get());
    Collections.shuffle(all);
    failures.keySet().retainAll(all);
    all.sort(Comparator.comparingLong(uri -> failures.getOrDefault(uri, 0L)));
    return all;
  }

  void failed(URI scheduler) {
    // Never 0, which means: did not fail.
    failures.put(scheduler, Math.max(1, System.nanoTime() & Long.MAX_VALUE));
  }

  void answered(URI scheduler) {
    failures.remove(scheduler);
  }
}
