package io.punctual.core.recovery;

import io.punctual.core.store.durability.Epoch;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** What was seen of one mark. */
final class EpochHistory {

  /** Other engines may have moved the mark before this one looked at what came back. */
  static final Duration MARGIN = Duration.ofSeconds(2);

  /** How many looks are remembered: two hours. */
  private static final int MOST = 7_200;

  /** What a look shows. */
  enum Change {
    /** There was none before. */
    FIRST,
    /** The server is as it should be. */
    LATER,
    /** The server was emptied, or is another one. */
    EMPTIED,
    /** The server is as it was earlier. */
    OLDER
  }

  /**
   * One of the looks.
   *
   * @param asked ticks when it began: the clocks of two servers may differ
   */
  private record Look(long sequence, long asked) {}

  private final Deque<Look> looks = new ArrayDeque<>();
  private @Nullable Epoch newest;

  /** The last look; null before the first. */
  @Nullable Epoch newest() {
    return newest;
  }

  /**
   * Adds a look.
   *
   * @param asked ticks when it began
   */
  void add(Epoch now, long asked) {
    Change change = change(now);
    if (change == Change.EMPTIED) {
      looks.clear();
    } else if (change == Change.OLDER) {
      // Looks with a lower sequence still describe the state that came back.
      looks.removeIf(look -> look.sequence() >= now.sequence());
    }
    newest = now;
    looks.addLast(new Look(now.sequence(), asked));
    if (looks.size() > MOST) {
      looks.removeFirst();
    }
  }

  /** Returns the change that a look shows. Call it before {@link #add}. */
  Change change(Epoch now) {
    Epoch before = newest;
    if (before == null) {
      return Change.FIRST;
    } else if (!now.id().equals(before.id())) {
      return Change.EMPTIED;
    }
    return now.sequence() <= before.sequence() ? Change.OLDER : Change.LATER;
  }

  /** Returns the ticks up to which a state with that mark has all changes; null if unknown. */
  @Nullable Long completeUntil(long sequence) {
    Iterator<Look> newestFirst = looks.descendingIterator();
    while (newestFirst.hasNext()) {
      Look look = newestFirst.next();
      if (look.sequence() <= sequence) {
        return look.asked() - MARGIN.toNanos();
      }
    }
    return null;
  }
}
