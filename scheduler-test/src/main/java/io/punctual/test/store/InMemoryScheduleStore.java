package io.punctual.test.store;

import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.durability.Reached;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Recurring schedules in memory. */
public final class InMemoryScheduleStore implements ScheduleStore {

  private static final Comparator<ScheduleName> ORDER =
      Comparator.comparing(ScheduleName::queue).thenComparing(ScheduleName::id);

  private final LongSupplier clock;
  private final Map<ScheduleName, Stored> schedules = new TreeMap<>(ORDER);
  private final Map<ScheduleName, Long> looks = new TreeMap<>(ORDER);
  private final Map<ScheduleName, Long> declared = new TreeMap<>(ORDER);
  // By application.
  private final Map<String, Long> declarations = new TreeMap<>();

  /**
   * @param clock epoch ms
   */
  public InMemoryScheduleStore(LongSupplier clock) {
    this.clock = clock;
  }

  /** Removes all schedules. */
  public synchronized void clear() {
    schedules.clear();
    looks.clear();
    declared.clear();
    declarations.clear();
  }

  private @Nullable Stored shown(@Nullable Stored stored) {
    if (stored == null) {
      return null;
    }
    Long own = declared.get(stored.name());
    Long all = declarations.get(stored.name().queue().application());
    return new Stored(
        stored.name(),
        stored.definition(),
        stored.state(),
        own == null || all == null ? null : Long.valueOf(all - own));
  }

  @Override
  public synchronized int declare(String application, List<ScheduleName> names) {
    List<ScheduleName> there = names.stream().filter(schedules::containsKey).toList();
    if (countOf(application) > 0) {
      long now = clock.getAsLong();
      declarations.put(application, now);
      there.forEach(name -> declared.put(name, now));
    }
    return there.size();
  }

  private long countOf(String application) {
    return schedules.keySet().stream()
        .filter(name -> name.queue().application().equals(application))
        .count();
  }

  @Override
  public synchronized Found find(ScheduleName name) {
    return new Found(clock.getAsLong(), shown(schedules.get(name)));
  }

  @Override
  public synchronized Due due(int max, Duration claim) {
    long now = clock.getAsLong();
    List<Stored> due =
        looks.entrySet().stream()
            .filter(entry -> entry.getValue() <= now)
            .sorted(Map.Entry.comparingByValue())
            .limit(max)
            .map(entry -> Objects.requireNonNull(schedules.get(entry.getKey())))
            .toList();
    due.forEach(stored -> looks.put(stored.name(), now + claim.toMillis()));
    Long next = looks.values().stream().min(Long::compare).orElse(null);
    return new Due(now, next, due);
  }

  @Override
  public synchronized Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String last, int max) {
    List<Stored> found =
        schedules.values().stream()
            .filter(
                stored ->
                    application == null || stored.name().queue().application().equals(application))
            .filter(stored -> taskType == null || stored.name().queue().taskType().equals(taskType))
            .filter(stored -> last == null || stored.name().toString().compareTo(last) > 0)
            .limit(max + 1L)
            .map(stored -> Objects.requireNonNull(shown(stored)))
            .toList();
    boolean more = found.size() > max;
    return new Page(
        more ? found.subList(0, max) : found, more ? found.get(max - 1).name().toString() : null);
  }

  @Override
  public synchronized Written write(List<Change> changes, int max, boolean durably) {
    List<Outcome> outcomes = new ArrayList<>();
    for (Change change : changes) {
      outcomes.add(write(change, max));
    }
    return new Written(outcomes, Reached.REDIS);
  }

  private Outcome write(Change change, int max) {
    Stored found = schedules.get(change.name());
    if (!Objects.equals(found == null ? null : found.state(), change.expected())) {
      return Outcome.CHANGED;
    }
    String state = change.state();
    byte[] definition = change.definition();
    if (state == null) {
      schedules.remove(change.name());
      looks.remove(change.name());
      declared.remove(change.name());
      if (countOf(change.name().queue().application()) == 0) {
        declarations.remove(change.name().queue().application());
      }
      return Outcome.DONE;
    }
    if (found == null && countOf(change.name().queue().application()) >= max) {
      return Outcome.FULL;
    }
    if (definition != null) {
      declared.remove(change.name());
    }
    byte[] kept = found == null ? new byte[0] : found.definition();
    schedules.put(
        change.name(),
        new Stored(change.name(), definition == null ? kept : definition, state, null));
    Long look = change.look();
    if (look == null) {
      looks.remove(change.name());
    } else {
      looks.put(change.name(), look);
    }
    return Outcome.DONE;
  }
}
