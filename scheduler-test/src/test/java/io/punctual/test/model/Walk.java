package io.punctual.test.model;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.JobStore;
import io.punctual.test.store.InMemoryJobStore;
import io.punctual.test.store.RedisBucketReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Walks the scripts and the model through a history and stops where they disagree. */
final class Walk {

  static final Duration TOMBSTONES = Duration.ofSeconds(1);

  private final JobStore redis;
  private final RedisBucketReader reader;
  private final Bucket bucket;

  Walk(JobStore redis, RedisBucketReader reader, Bucket bucket) {
    this.redis = redis;
    this.reader = reader;
    this.bucket = bucket;
  }

  /** The first disagreement, if there is one. */
  Optional<String> disagreement(List<Step> steps) {
    reader.clear();
    long[] now = {HistoryGenerator.START};
    reader.setTime(now[0]);
    InMemoryJobStore model = new InMemoryJobStore(() -> now[0], TOMBSTONES);
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      now[0] += step.pause();
      if (step.pause() > 0) {
        reader.setTime(now[0]);
      }
      String lost = step.lost();
      if (lost != null) {
        reader.loseRecord(lost);
        model.loseRecord(bucket, lost);
      }
      String expected = "";
      String actual = "";
      Function<JobStore, Object> call = step.call();
      if (call != null) {
        expected = outcome(call, model);
        actual = outcome(call, redis);
      }
      if (!expected.equals(actual)) {
        return Optional.of(
            "step %d at %d: %s%n  model:  %s%n  script: %s"
                .formatted(i, now[0], step.shown(), expected, actual));
      }
      List<String> differences = model.contents(bucket).differences(reader.read());
      if (!differences.isEmpty()) {
        return Optional.of(
            "step %d at %d: %s%n  answered %s%n  model / script: %s"
                .formatted(i, now[0], step.shown(), actual, String.join("\n    ", differences)));
      }
    }
    reader.clear();
    return Optional.empty();
  }

  private static String outcome(Function<JobStore, Object> call, JobStore store) {
    try {
      return Shown.text(call.apply(store));
    } catch (RuntimeException e) {
      return "threw " + e.getMessage();
    }
  }

  /** Leaves steps out for as long as the two still disagree. */
  List<Step> shrink(List<Step> steps) {
    List<Step> smallest = new ArrayList<>(steps);
    for (int size = smallest.size() / 2; size >= 1; size /= 2) {
      for (int from = 0; from + size <= smallest.size(); ) {
        List<Step> tried = new ArrayList<>(smallest);
        tried.subList(from, from + size).clear();
        if (disagreement(tried).isPresent()) {
          smallest = tried;
        } else {
          from += size;
        }
      }
    }
    return smallest;
  }
}
