package io.punctual.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each change of the clocks in each zone of the years 2020 to 2040, against an oracle that goes
 * through time minute by minute and looks at what a clock on the wall shows. It knows nothing of
 * offsets and transitions but when to look.
 */
class RecurrenceTableTest {

  private static final Instant BEGIN = Instant.parse("2020-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("2041-01-01T00:00:00Z");

  /** Around a change, so long is looked at. No gap or fold is longer than half of it. */
  private static final Duration AROUND = Duration.ofHours(6);

  @Test
  void eachChangeOfClocksInEachZoneIsAsAWallClockShowsIt() {
    Map<List<ZoneOffsetTransition>, String> zones = zonesByTheirChanges();
    int compared = 0;
    for (Map.Entry<List<ZoneOffsetTransition>, String> entry : zones.entrySet()) {
      ZoneId zone = ZoneId.of(entry.getValue());
      for (ZoneOffsetTransition change : entry.getKey()) {
        compared += compare(zone, change);
      }
    }
    assertThat(zones).hasSizeGreaterThan(30);
    assertThat(compared).isGreaterThan(100_000);
  }

  /** Starting between two occurrences, or at one, makes no difference. */
  @ParameterizedTest
  @ValueSource(
      strings = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll"})
  void eachMinuteIsFollowedByTheSameOccurrence(String name) {
    ZoneId zone = ZoneId.of(name);
    for (ZoneOffsetTransition change : changes(zone.getRules()).subList(10, 12)) {
      Walk walk = new Walk(zone, change.getInstant());
      for (Rule rule : rules(change)) {
        walk.choose(rule);
        for (Gap gap : Gap.values()) {
          for (Fold fold : Fold.values()) {
            TreeSet<Instant> expected = walk.fires(gap, fold);
            Recurrence recurrence = recurrence(rule.cron(), zone, gap, fold);
            for (Instant at = walk.from; at.isBefore(walk.until); at = at.plusSeconds(60)) {
              Instant first = expected.higher(at);
              if (first != null) {
                assertThat(next(recurrence, at)).as("%s %s %s", rule, gap, fold).isEqualTo(first);
              }
            }
          }
        }
      }
    }
  }

  /** Exact steps know no clocks. */
  @Test
  void stepsAreExactAcrossEachChange() {
    for (String name : zonesByTheirChanges().values()) {
      ZoneId zone = ZoneId.of(name);
      Duration step = Duration.ofMinutes(47);
      Recurrence recurrence =
          new Recurrence(null, step, BEGIN, zone, Gap.SHIFT, Fold.FIRST, null, null, Set.of());
      for (ZoneOffsetTransition change : changes(zone.getRules())) {
        Instant at = next(recurrence, change.getInstant().minus(AROUND));
        while (at.isBefore(change.getInstant().plus(AROUND))) {
          assertThat(Duration.between(BEGIN, at).toMinutes() % 47).isZero();
          Instant following = next(recurrence, at);
          assertThat(Duration.between(at, following)).isEqualTo(step);
          at = following;
        }
      }
    }
  }

  private static int compare(ZoneId zone, ZoneOffsetTransition change) {
    Walk walk = new Walk(zone, change.getInstant());
    int compared = 0;
    for (Rule rule : rules(change)) {
      walk.choose(rule);
      for (Gap gap : Gap.values()) {
        for (Fold fold : Fold.values()) {
          List<Instant> expected = new ArrayList<>(walk.fires(gap, fold));
          List<Instant> found = walk.found(recurrence(rule.cron(), zone, gap, fold));
          if (!found.equals(expected)) {
            assertThat(found)
                .as("%s at %s: '%s', gap %s, fold %s", zone, change, rule.cron(), gap, fold)
                .isEqualTo(expected);
          }
          compared += 1 + found.size();
        }
      }
    }
    return compared;
  }

  private static Recurrence recurrence(String cron, ZoneId zone, Gap gap, Fold fold) {
    return new Recurrence(
        Cron.parse(cron), null, Instant.EPOCH, zone, gap, fold, null, null, Set.of());
  }

  private static Instant next(Recurrence recurrence, Instant after) {
    Occurrence next = recurrence.next(after);
    assertThat(next).isNotNull();
    return next.at();
  }

  /** Zones with the same changes are one. */
  private static Map<List<ZoneOffsetTransition>, String> zonesByTheirChanges() {
    Map<List<ZoneOffsetTransition>, String> zones = new LinkedHashMap<>();
    for (String name : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
      zones.putIfAbsent(changes(ZoneId.of(name).getRules()), name);
    }
    return zones;
  }

  private static List<ZoneOffsetTransition> changes(ZoneRules rules) {
    List<ZoneOffsetTransition> changes = new ArrayList<>();
    ZoneOffsetTransition next = rules.nextTransition(BEGIN);
    while (next != null && next.getInstant().isBefore(END)) {
      changes.add(next);
      next = rules.nextTransition(next.getInstant());
    }
    return changes;
  }

  /** A cron expression, and the same said in Java. */
  private record Rule(String cron, Predicate<LocalDateTime> fits) {

    static Rule at(LocalTime time) {
      return new Rule(
          time.getMinute() + " " + time.getHour() + " * * *",
          local -> local.toLocalTime().equals(time));
    }
  }

  /** Times of the day at the edges of a gap or fold and in it, and rhythms. */
  private static List<Rule> rules(ZoneOffsetTransition change) {
    LocalDateTime before = change.getDateTimeBefore();
    LocalDateTime after = change.getDateTimeAfter();
    LocalDateTime middle = after.plus(Duration.between(after, before).dividedBy(2));
    List<Rule> rules = new ArrayList<>();
    Stream.of(before, after)
        .flatMap(edge -> Stream.of(edge.minusMinutes(1), edge, edge.plusMinutes(1)))
        .map(LocalDateTime::toLocalTime)
        .forEach(time -> rules.add(Rule.at(time)));
    rules.add(Rule.at(middle.toLocalTime().withSecond(0)));
    rules.add(new Rule("*/7 * * * *", local -> local.getMinute() % 7 == 0));
    rules.add(
        new Rule("30 */2 * * *", local -> local.getMinute() == 30 && local.getHour() % 2 == 0));
    rules.add(
        new Rule(
            "5,50 0-4,22,23 * * *",
            local ->
                (local.getMinute() == 5 || local.getMinute() == 50)
                    && (local.getHour() <= 4 || local.getHour() >= 22)));
    return rules;
  }

  /** What a clock on the wall shows, minute by minute. */
  private static final class Walk {

    private final Instant from;
    private final Instant until;

    /** What is shown, when; once or twice. */
    private final Map<LocalDateTime, List<Instant>> shown = new HashMap<>();

    /** What is never shown, and when it would have been, had nobody touched the clock. */
    private final Map<LocalDateTime, Instant> missing = new HashMap<>();

    private final List<List<Instant>> fitting = new ArrayList<>();
    private final List<Instant> moved = new ArrayList<>();

    Walk(ZoneId zone, Instant change) {
      from = change.minus(AROUND);
      until = change.plus(AROUND);
      LocalDateTime last = null;
      // Twice as far, to see both of what is shown twice.
      for (Instant at = change.minus(AROUND.multipliedBy(2));
          at.isBefore(change.plus(AROUND.multipliedBy(2)));
          at = at.plusSeconds(60)) {
        LocalDateTime clock = at.atZone(zone).toLocalDateTime();
        shown.computeIfAbsent(clock, time -> new ArrayList<>()).add(at);
        if (last != null) {
          Instant untouched = at;
          for (LocalDateTime time = last.plusMinutes(1);
              time.isBefore(clock);
              time = time.plusMinutes(1)) {
            missing.put(time, untouched);
            untouched = untouched.plusSeconds(60);
          }
        }
        last = clock;
      }
    }

    /** Goes on with a rule. */
    void choose(Rule rule) {
      fitting.clear();
      moved.clear();
      shown.forEach(
          (time, instants) -> {
            if (rule.fits().test(time)) {
              fitting.add(instants);
            }
          });
      missing.forEach(
          (time, at) -> {
            if (rule.fits().test(time)) {
              moved.add(at);
            }
          });
    }

    TreeSet<Instant> fires(Gap gap, Fold fold) {
      TreeSet<Instant> fires = new TreeSet<>(gap == Gap.SHIFT ? moved : List.of());
      for (List<Instant> instants : fitting) {
        switch (fold) {
          case FIRST -> fires.add(instants.get(0));
          case LAST -> fires.add(instants.get(instants.size() - 1));
          case BOTH -> fires.addAll(instants);
        }
      }
      return new TreeSet<>(fires.subSet(from, false, until, true));
    }

    List<Instant> found(Recurrence recurrence) {
      List<Instant> found = new ArrayList<>();
      @Nullable Occurrence next = recurrence.next(from);
      while (next != null && !next.at().isAfter(until)) {
        found.add(next.at());
        next = recurrence.next(next.at());
      }
      return found;
    }
  }
}
