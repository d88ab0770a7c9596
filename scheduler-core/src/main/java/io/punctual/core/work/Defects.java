package io.punctual.core.work;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the defects that the engine's duties meet, in Punctual or in the code that it calls. A
 * duty goes on after a defect, and health shows the defect until the duty works again.
 */
public final class Defects {

  private static final Logger log = LoggerFactory.getLogger(Defects.class);

  private final Map<String, String> open = new ConcurrentHashMap<>();

  /**
   * Reports a defect of a duty. Never throws: there may be no memory left.
   *
   * @param duty its name, as people read it
   */
  public void met(String duty, Throwable e) {
    try {
      if (open.put(duty, e.toString()) == null) {
        log.error(
            "{} failed because of a defect in Punctual. It is tried again; /actuator/health lists it"
                + " until it works",
            duty,
            e);
      }
    } catch (RuntimeException | Error again) {
      // Nothing is left to tell it with.
      return;
    }
  }

  /** Reports that a duty works. */
  public void worked(String duty) {
    if (!open.isEmpty() && open.remove(duty) != null) {
      log.info("{} works again", duty);
    }
  }

  /** Returns the open defects by the names of their duties. */
  public SortedMap<String, String> open() {
    return Collections.unmodifiableSortedMap(new TreeMap<>(open));
  }
}
