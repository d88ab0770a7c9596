package io.punctual.server.dispatch;

import io.punctual.core.store.InstanceMarks;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The marks of instances in memory; tests play the other schedulers. */
final class FakeInstanceMarks implements InstanceMarks {

  private final Set<String> reserved = new HashSet<>();
  private final Map<String, Set<String>> broken = new HashMap<>();
  private final Set<String> noticedElsewhere = new HashSet<>();
  private boolean away;
  private boolean defective;

  /** Another scheduler has a suspect at the instance. */
  void reserveElsewhere(String instance) {
    reserved.add(instance);
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
    noticedElsewhere.forEach(instance -> broke(instance, "another", Duration.ZERO));
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
  public void broke(String instance, String scheduler, Duration remembered) {
    check();
    broken.computeIfAbsent(instance, name -> new HashSet<>()).add(scheduler);
  }

  @Override
  public long broken(String instance) {
    check();
    return broken.getOrDefault(instance, Set.of()).size();
  }
}
