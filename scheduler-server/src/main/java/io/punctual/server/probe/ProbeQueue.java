package io.punctual.server.probe;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The probes that wait for their turn. Few run at once, and fewer of one application: instances
 * that do not answer take the time of their own application only. Applications take turns, and what
 * a caller waits for goes first.
 */
final class ProbeQueue {

  private final Executor threads;
  private final int atOnce;
  private final int ofApplication;
  // The application whose turn it is comes first.
  private final Map<String, Deque<Runnable>> waiting = new LinkedHashMap<>();
  private final Map<String, Integer> running = new HashMap<>();
  private int all;

  /**
   * @param threads runs a probe, at once
   * @param atOnce how many run at once
   * @param ofApplication how many of one application
   */
  ProbeQueue(Executor threads, int atOnce, int ofApplication) {
    this.threads = threads;
    this.atOnce = atOnce;
    this.ofApplication = ofApplication;
  }

  /**
   * Adds a probe.
   *
   * @param application whose instance it is about
   */
  void add(String application, Runnable probe) {
    synchronized (this) {
      waiting.computeIfAbsent(application, name -> new ArrayDeque<>()).addLast(probe);
    }
    startWaiting();
  }

  /** Puts a waiting probe before the others of its application, because a caller waits for it. */
  void hurry(String application, Runnable probe) {
    synchronized (this) {
      Deque<Runnable> mine = waiting.get(application);
      if (mine != null && mine.remove(probe)) {
        mine.addFirst(probe);
      }
    }
    startWaiting();
  }

  /**
   * Starts waiting probes while there is capacity, including those for which no thread could be
   * started.
   */
  void startWaiting() {
    for (Turn turn = next(); turn != null; turn = next()) {
      Turn begun = turn;
      try {
        threads.execute(
            () -> {
              try {
                begun.probe().run();
              } finally {
                end(begun.application());
                startNext();
              }
            });
      } catch (RuntimeException | Error e) {
        // For example, no memory for a thread. The prober's next round tries again.
        putBack(begun);
        throw e;
      }
    }
  }

  private void startNext() {
    try {
      startWaiting();
    } catch (RejectedExecutionException e) {
      // The prober stops, and those that wait are over.
      return;
    }
  }

  private record Turn(String application, Runnable probe) {}

  private synchronized @Nullable Turn next() {
    if (all >= atOnce) {
      return null;
    }
    Iterator<Map.Entry<String, Deque<Runnable>>> turns = waiting.entrySet().iterator();
    while (turns.hasNext()) {
      Map.Entry<String, Deque<Runnable>> turn = turns.next();
      String application = turn.getKey();
      if (running.getOrDefault(application, 0) < ofApplication) {
        Deque<Runnable> mine = turn.getValue();
        Runnable probe = mine.removeFirst();
        // The others have their turn before its next one.
        turns.remove();
        if (!mine.isEmpty()) {
          waiting.put(application, mine);
        }
        running.merge(application, 1, Integer::sum);
        all++;
        return new Turn(application, probe);
      }
    }
    return null;
  }

  private synchronized void putBack(Turn turn) {
    end(turn.application());
    waiting.computeIfAbsent(turn.application(), name -> new ArrayDeque<>()).addFirst(turn.probe());
  }

  private synchronized void end(String application) {
    running.computeIfPresent(application, (name, count) -> count == 1 ? null : count - 1);
    all--;
  }
}
