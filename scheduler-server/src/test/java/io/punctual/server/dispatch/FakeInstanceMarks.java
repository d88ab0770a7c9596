package io.punctual.server.dispatch;

import io.punctual.core.store.StoreException;
import io.punctual.core.store.instance.InstanceMarks;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/** The marks of instances in memory; tests play the other schedulers. */
public final class FakeInstanceMarks implements InstanceMarks {

  private final Set<String> reserved = new HashSet<>();
  private final Map<String, Map<String, Long>> broken = new HashMap<>();
  private final Set<String> noticedElsewhere = new HashSet<>();
  private final LongSupplier millis;
  private int notes;
  private boolean away;
  private boolean defective;

  /**
   * @param millis the store's clock
   */
  public FakeInstanceMarks(LongSupplier millis) {
    this.millis = millis;
  }

  /** Another scheduler has a suspect at the instance. */
  void reserveElsewhere(String instance) {
    reserved.add(instance);
  }

  /** Another scheduler has noticed now that its connections to the instance broke. */
  void brokeElsewhere(String instance) {
    note(instance, "another");
  }

  /** Another scheduler will notice that its connections to the instance broke, too. */
  void breaksElsewhere(String instance) {
    noticedElsewhere.add(instance);
  }

  /** The store does not answer from now on. */
  void goAway() {
    away = true;
  }

  /** Each call throws an Error from now on. */
  void haveDefect() {
    defective = true;
  }

  void othersNotice() {
    noticedElsewhere.forEach(this::brokeElsewhere);
  }

  /** How often schedulers under test have noted a broken connection. */
  int notes() {
    return notes;
  }

  private long note(String instance, String scheduler) {
    long now = millis.getAsLong();
    broken.computeIfAbsent(instance, name -> new HashMap<>()).put(scheduler, now);
    return now;
  }

  private void check() {
    if (defective) {
      throw new AssertionError("a defect");
    }
    if (away) {
      throw new StoreException(StoreException.Kind.UNREACHABLE, "away");
    }
  }

  @Override
  public boolean reserve(String instance, Duration most) {
    check();
    return reserved.add(instance);
  }

  @Override
  public void release(String instance) {
    check();
    reserved.remove(instance);
  }

  @Override
  public long broke(String instance, String scheduler, Duration remembered) {
    check();
    notes++;
    return note(instance, scheduler);
  }

  @Override
  public long broken(String instance, long since) {
    check();
    return broken.getOrDefault(instance, Map.of()).values().stream()
        .filter(noted -> noted >= since)
        .count();
  }
}
