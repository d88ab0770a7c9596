package io.punctual.core.engine;

import io.punctual.core.store.StoreException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once when the store goes away and once when it is back, however many duties notice. */
final class Outages {

  private static final Logger log = LoggerFactory.getLogger(Outages.class);

  private final Set<Object> failing = ConcurrentHashMap.newKeySet();
  private final Set<Object> quarantined = ConcurrentHashMap.newKeySet();

  /**
   * A call failed.
   *
   * @param who the duty whose call it was; it keeps the outage open until a call of its own works
   */
  void failed(Object who, RuntimeException e) {
    if (e instanceof StoreException s && s.kind() == StoreException.Kind.CORRUPT) {
      if (quarantined.add(who)) {
        log.error(
            "{} is quarantined: {}. Repair or remove the foreign key; it is tried again every"
                + " {} s. All other queues go on.",
            who,
            e.getMessage(),
            Scanner.QUARANTINE.toSeconds());
      }
      return;
    }
    boolean first = failing.isEmpty();
    if (failing.add(who) && first) {
      if (e instanceof StoreException) {
        log.warn(
            "The store does not answer or refuses: {}. Jobs wait in it, acks are kept here; it is"
                + " tried again until it works, without further messages.",
            e.getMessage());
      } else {
        log.error("A call to the store failed in an unexpected way; it is tried again", e);
      }
    }
  }

  /** A call worked. */
  void answered(Object who) {
    if (!failing.isEmpty() && failing.remove(who) && failing.isEmpty()) {
      log.info("The store answers again");
    }
    if (!quarantined.isEmpty() && quarantined.remove(who)) {
      log.info("{} is no longer quarantined", who);
    }
  }
}
