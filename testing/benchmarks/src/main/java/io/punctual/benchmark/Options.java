package io.punctual.benchmark;

import io.punctual.benchmark.contest.Contest;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What to run.
 *
 * @param directory for figures, logs and pictures
 * @param parts of the table; empty for all
 * @param who contenders; empty for all
 * @param appendOnly whether Redis writes its append-only file, once a second to the disk
 * @param scale of the contests
 * @param factor of the other parts: 1 for all of it
 * @param minutes that L takes
 */
record Options(
    Path directory,
    Set<String> parts,
    Set<String> who,
    boolean appendOnly,
    Contest.Scale scale,
    double factor,
    int minutes) {

  static Options ofProperties(Path directory) {
    if (Boolean.getBoolean("bench.quick")) {
      return quick(
          directory, System.getProperty("bench.parts", ""), System.getProperty("bench.who", ""));
    }
    int repetitions = Integer.getInteger("bench.repetitions", 3);
    return new Options(
        directory,
        words("bench.parts"),
        words("bench.who"),
        Boolean.getBoolean("bench.aof"),
        new Contest.Scale(5, repetitions, repetitions, 20_000, 1, 500, 20, 50_000, 1_000_000),
        1,
        Integer.getInteger("bench.minutes", 3));
  }

  /** Seconds, to see that the benchmark itself works. */
  static Options quick(Path directory, String parts, String who) {
    return new Options(
        directory,
        words(parts.split(",", -1)),
        words(who.split(",", -1)),
        false,
        new Contest.Scale(0, 1, 1, 500, 0, 100, 2, 1_000, 2_000),
        0.002,
        2);
  }

  private static Set<String> words(String property) {
    return words(System.getProperty(property, "").split(",", -1));
  }

  private static Set<String> words(String... words) {
    Set<String> set = new TreeSet<>(Arrays.asList(words));
    set.remove("");
    return set;
  }

  /** Those of the parts that are asked for, of this contender. */
  List<String> parts(String contender, String... all) {
    if (!who.isEmpty() && !who.contains(contender)) {
      return List.of();
    }
    return Arrays.stream(all).filter(part -> parts.isEmpty() || parts.contains(part)).toList();
  }

  int scaled(int full) {
    return Math.max(1, (int) (full * factor));
  }

  /** For the command line. Lateness takes long: others than us are measured once. */
  static String argument(Contest.Scale scale, String contender) {
    int[] numbers = {
      scale.warmUpSeconds(),
      scale.repetitions(),
      contender.startsWith("punctual") && !contender.endsWith("plugin")
          ? scale.latenessRepetitions()
          : 1,
      scale.submits(),
      scale.submitSeconds(),
      scale.rate(),
      scale.seconds(),
      scale.drained(),
      contender.startsWith("punctual") ? scale.stored() : scale.stored() / 5
    };
    return String.join(",", Arrays.stream(numbers).mapToObj(Integer::toString).toList());
  }
}
