package io.punctual.server.dispatch;

import io.punctual.core.RepeatCause;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers for a bounded number of jobs which instance got them last, and how that ended. A job
 * whose answer was lost goes there first again, once, since that instance may know that it is done;
 * one that was not answered in time goes to another one.
 */
final class InstanceAffinity {

  /**
   * Where a job goes best, if there is a choice.
   *
   * @param preferred the id of the instance to take, or null
   * @param unwanted the id of the instance not to take, or null
   */
  record Wish(@Nullable String preferred, @Nullable String unwanted) {
    static final Wish NONE = new Wish(null, null);
  }

  /**
   * The last try of a job.
   *
   * @param returned whether it went there because its answer had been lost there before
   * @param end null while nothing was heard of it
   * @param before the try before that one, for as long as it is not known to be sent
   */
  private record Try(
      String instance, boolean returned, @Nullable RepeatCause end, @Nullable Try before) {

    boolean isLost() {
      return end == RepeatCause.ANSWER_LOST;
    }
  }

  private final Map<String, Try> tries;

  InstanceAffinity(int capacity) {
    this.tries =
        new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ false) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Try> eldest) {
            return size() > capacity;
          }
        };
  }

  /** Notes that the job is sent to the instance. */
  synchronized void started(String incarnation, String instance) {
    Try last = tries.get(incarnation);
    boolean returned = last != null && last.isLost() && last.instance.equals(instance);
    Try before =
        last == null ? null : new Try(last.instance, last.returned, last.end, /* before= */ null);
    tries.put(incarnation, new Try(instance, returned, null, before));
  }

  /** Takes back the last {@link #started}: the try before it counts again. */
  synchronized void notSent(String incarnation, String instance) {
    Try last = tries.get(incarnation);
    if (last == null || last.end != null || !last.instance.equals(instance)) {
      return;
    }
    if (last.before == null) {
      tries.remove(incarnation);
    } else {
      tries.put(incarnation, last.before);
    }
  }

  /**
   * A try ended.
   *
   * @param cause why the outcome is unknown; null if the instance reported it
   */
  synchronized void ended(String incarnation, String instance, @Nullable RepeatCause cause) {
    Try last = tries.get(incarnation);
    if (last == null || !last.instance.equals(instance)) {
      return;
    }
    if (cause == null) {
      tries.remove(incarnation);
    } else {
      tries.put(incarnation, new Try(instance, last.returned, cause, null));
    }
  }

  /** Why it is not known how the last try ended; null if it is, or was never tried here. */
  synchronized @Nullable RepeatCause lastEnd(String incarnation) {
    Try last = tries.get(incarnation);
    return last == null ? null : last.end;
  }

  synchronized void forget(String incarnation) {
    tries.remove(incarnation);
  }

  synchronized Wish wish(String incarnation) {
    Try last = tries.get(incarnation);
    if (last == null) {
      return Wish.NONE;
    }
    // Without an end it may be under way there still, its lease having been lost here.
    return last.end == null || (last.isLost() && !last.returned)
        ? new Wish(last.instance, null)
        : new Wish(null, last.instance);
  }
}
