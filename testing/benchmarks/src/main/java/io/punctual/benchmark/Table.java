package io.punctual.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The figures as people read them: a table a part, in Markdown, and what became of the targets. */
final class Table {

  private final List<Figure> figures;

  Table(List<Figure> figures) {
    this.figures = figures;
  }

  String text() {
    Map<String, List<Figure>> byPart = new TreeMap<>();
    figures.forEach(
        figure -> byPart.computeIfAbsent(figure.part(), part -> new ArrayList<>()).add(figure));
    StringBuilder text = new StringBuilder();
    byPart.forEach(
        (part, some) -> {
          text.append("\n| ").append(part).append(" | what | median (min-max) | note |\n");
          text.append("| --- | --- | ---: | --- |\n");
          for (Figure figure : some) {
            text.append(
                "| %s | %s | %s | %s |\n"
                    .formatted(figure.who(), figure.metric(), figure.text(), figure.note()));
          }
        });
    return text.append('\n').append(targets()).toString();
  }

  private static final List<String> LIBRARIES =
      List.of("redisson", "bullmq", "db-scheduler", "jobrunr");

  private String targets() {
    List<String> lines = new ArrayList<>();
    lines.add("| target | reached | wanted |");
    lines.add("| --- | ---: | ---: |");
    ratio(lines, "A1: of the same stack's empty POSTs", ours("A1"), one("A1", "http"), "0.60");
    ratio(
        lines,
        "A1: with a POST a job, of the same",
        one("A1", "punctual-single"),
        one("A1", "http"),
        "");
    ratio(lines, "A2: of pipelined HSET and ZADD", ours("A2"), one("A2", "redis"), "0.50");
    value(lines, "B: p50 ms", one("B", "punctual", "p50 ms"), "at most 3");
    value(lines, "B: p99 ms", one("B", "punctual", "p99 ms"), "at most 15");
    ratio(
        lines,
        "B: p99 of the best polling library over ours",
        one("B", "db-scheduler", "p99 ms"),
        one("B", "punctual", "p99 ms"),
        "10");
    value(lines, "B2: p99 ms", one("B2", "punctual", "p99 ms"), "at most 100");
    ratio(lines, "C: of the best library", ours("C"), best("C"), "2");
    ratio(lines, "C: of beanstalkd", ours("C"), one("C", "beanstalkd"), "1");
    ratio(
        lines,
        "C in plugin mode: of the best library",
        one("C", "punctual-plugin"),
        best("C"),
        "3");
    ratio(lines, "C1: of bare HTTP", one("C1", "punctual-single"), one("C1", "http"), "0.50");
    value(lines, "D: bytes over the payload", ours("D"), "at most 250");
    value(lines, "E: CPU s/min", ours("E"), "at most 1.8");
    value(
        lines,
        "E: MB of heap and stacks",
        one("E", "punctual", "MB of heap and stacks"),
        "under 600");
    List<Figure> pending = part("F");
    if (pending.size() == 6) {
      ratio(lines, "F: submit, largest over smallest", pending.get(4), pending.get(0), "1.3");
      ratio(lines, "F: claim, largest over smallest", pending.get(5), pending.get(1), "1.3");
    }
    value(lines, "G: s to the first job", ours("G"), "at most 5");
    List<Figure> shapes = part("H");
    for (Figure shape : shapes) {
      ratio(lines, "H: " + shape.who(), shape, ours("C").orElse(shapes.get(0)), "");
    }
    return String.join("\n", lines) + "\n";
  }

  private static void ratio(
      List<String> lines,
      String what,
      Optional<Figure> ours,
      Optional<Figure> theirs,
      String goal) {
    if (ours.isPresent() && theirs.isPresent()) {
      lines.add(
          "| %s | %.2f | %s |".formatted(what, ours.get().median() / theirs.get().median(), goal));
    }
  }

  private static void ratio(
      List<String> lines, String what, Figure ours, Figure theirs, String goal) {
    ratio(lines, what, Optional.of(ours), Optional.of(theirs), goal);
  }

  private static void value(List<String> lines, String what, Optional<Figure> ours, String goal) {
    ours.ifPresent(
        figure -> lines.add("| %s | %.2f | %s |".formatted(what, figure.median(), goal)));
  }

  private List<Figure> part(String part) {
    return figures.stream().filter(figure -> figure.part().equals(part)).toList();
  }

  private Optional<Figure> one(String part, String who, String metric) {
    return part(part).stream()
        .filter(figure -> figure.who().equals(who) && figure.metric().equals(metric))
        .findFirst();
  }

  private Optional<Figure> ours(String part) {
    return one(part, "punctual");
  }

  private Optional<Figure> one(String part, String who) {
    return figures.stream()
        .filter(figure -> figure.part().equals(part) && figure.who().equals(who))
        .findFirst();
  }

  private Optional<Figure> best(String part) {
    return figures.stream()
        .filter(figure -> figure.part().equals(part) && LIBRARIES.contains(figure.who()))
        .max((a, b) -> Double.compare(a.median(), b.median()));
  }
}
