package io.punctual.client.submit;

import io.punctual.internal.ConfiguredUrl;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Knows where schedulers are, and which of them did not answer lately. */
public final class SchedulerLocator {

  private record Failure(long nanos, Instant at, String error) {}

  private final SchedulerSource source;
  private final Map<URI, Failure> failures = new ConcurrentHashMap<>();
  private final Map<URI, Instant> answers = new ConcurrentHashMap<>();
  private volatile @Nullable Instant lastAnswer;

  /**
   * @param source of the base addresses of all schedulers
   */
  public SchedulerLocator(SchedulerSource source) {
    this.source = source;
  }

  /** Returns where the addresses come from. */
  SchedulerSource source() {
    return source;
  }

  /**
   * Returns all schedulers, in random order, those that failed latest at the end.
   *
   * @throws RuntimeException whatever the client of a registry throws
   */
  public List<URI> schedulers() {
    List<URI> all = new ArrayList<>(source.schedulers());
    Collections.shuffle(all);
    failures.keySet().retainAll(all);
    answers.keySet().retainAll(all);
    all.sort(Comparator.comparingLong(this::failedAt));
    return all;
  }

  /** Returns the schedulers that are known now, in words, without users and passwords. */
  public String shown() {
    try {
      List<URI> found = schedulers();
      return found.isEmpty()
          ? "none seen yet"
          : found.stream().map(ConfiguredUrl::masked).toList().toString();
    } catch (RuntimeException e) {
      return "unknown: " + e.getMessage();
    }
  }

  private long failedAt(URI scheduler) {
    Failure failure = failures.get(scheduler);
    return failure == null ? 0 : failure.nanos();
  }

  /**
   * Returns all schedulers, by address, each with what came of calling it.
   *
   * @throws RuntimeException whatever the client of a registry throws
   */
  public List<SchedulerContact> contacts() {
    return schedulers().stream()
        .sorted()
        .map(
            scheduler -> {
              Failure failure = failures.get(scheduler);
              return new SchedulerContact(
                  scheduler,
                  answers.get(scheduler),
                  failure == null ? null : failure.at(),
                  failure == null ? null : failure.error());
            })
        .toList();
  }

  /** When a scheduler answered last, also one that is gone now; null if none ever did. */
  public @Nullable Instant lastAnswer() {
    return lastAnswer;
  }

  void failed(URI scheduler, String error) {
    // Never 0, which means: did not fail.
    failures.put(
        scheduler,
        new Failure(Math.max(1, System.nanoTime() & Long.MAX_VALUE), Instant.now(), error));
  }

  void answered(URI scheduler) {
    Instant now = Instant.now();
    answers.put(scheduler, now);
    lastAnswer = now;
    failures.remove(scheduler);
  }
}
