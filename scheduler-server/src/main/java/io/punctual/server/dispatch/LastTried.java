package io.punctual.server.dispatch;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers for a bounded number of jobs which instance got them last: a job whose answer was lost
 * goes there first again, since that instance may know that it is done.
 */
final class LastTried {

  private final Map<String, String> instances;

  LastTried(int capacity) {
    this.instances =
        new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ false) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > capacity;
          }
        };
  }

  synchronized void put(String incarnation, String instance) {
    instances.put(incarnation, instance);
  }

  synchronized void forget(String incarnation) {
    instances.remove(incarnation);
  }

  synchronized @Nullable String of(String incarnation) {
    return instances.get(incarnation);
  }
}
