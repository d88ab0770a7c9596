package io.punctual.test.store;

import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A sorted set as Redis has it: members by score, at the same score by their names. */
final class Scores extends AbstractMap<String, Long> {

  private record Place(long score, String member) {}

  private final TreeMap<String, Long> byMember = new TreeMap<>();
  private final NavigableSet<Place> places =
      new TreeSet<>(Comparator.comparingLong(Place::score).thenComparing(Place::member));

  /** The lowest score, or null. */
  @Nullable Long first() {
    return places.isEmpty() ? null : places.first().score();
  }

  /** The highest score, or null. */
  @Nullable Long last() {
    return places.isEmpty() ? null : places.last().score();
  }

  /** The lowest score above that one, or null. */
  @Nullable Long above(long score) {
    NavigableSet<Place> later = later(score);
    return later.isEmpty() ? null : later.first().score();
  }

  /** How many there are up to a score. */
  int countUpTo(long score) {
    return score == Long.MAX_VALUE ? size() : upTo(score).size();
  }

  /** The first ones up to a score, in their order. */
  List<Map.Entry<String, Long>> earliest(long upTo, int max) {
    List<Map.Entry<String, Long>> found = new ArrayList<>();
    for (Place place : places) {
      if (place.score() > upTo || found.size() >= max) {
        break;
      }
      found.add(Map.entry(place.member(), place.score()));
    }
    return found;
  }

  /** The first ones from a score on, in their order. */
  List<Map.Entry<String, Long>> from(long score) {
    List<Map.Entry<String, Long>> found = new ArrayList<>();
    places
        .tailSet(new Place(score, ""), true)
        .forEach(place -> found.add(Map.entry(place.member(), place.score())));
    return found;
  }

  // A name is at least one character long: the empty one stands before all others.
  private NavigableSet<Place> later(long score) {
    return score == Long.MAX_VALUE
        ? Collections.emptyNavigableSet()
        : places.tailSet(new Place(score + 1, ""), true);
  }

  private NavigableSet<Place> upTo(long score) {
    return places.headSet(new Place(score + 1, ""), false);
  }

  @Override
  public @Nullable Long put(String member, Long score) {
    Long before = byMember.put(member, score);
    if (before != null) {
      places.remove(new Place(before, member));
    }
    places.add(new Place(score, member));
    return before;
  }

  @Override
  public @Nullable Long remove(@Nullable Object member) {
    if (!(member instanceof String name)) {
      return null;
    }
    Long before = byMember.remove(name);
    if (before != null) {
      places.remove(new Place(before, name));
    }
    return before;
  }

  @Override
  public @Nullable Long get(@Nullable Object member) {
    return byMember.get(member);
  }

  @Override
  public boolean containsKey(@Nullable Object member) {
    return byMember.containsKey(member);
  }

  @Override
  public int size() {
    return byMember.size();
  }

  @Override
  public Set<Map.Entry<String, Long>> entrySet() {
    return Collections.unmodifiableMap(byMember).entrySet();
  }
}
