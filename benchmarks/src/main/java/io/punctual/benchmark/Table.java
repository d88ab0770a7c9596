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
    ratio(
        lines,
        "A1: of the same stack's empty POSTs",
        one("A1", "punctual"),
        one("A1", "http"),
        "0.60");
    ratio(
        lines, "A2: of pipelined HSET and ZADD", one("A2", "punctual"), one("A2", "redis"), "0.50");
    ratio(lines, "C: of the best library", one("C", "punctual"), best("C"), "2");
    ratio(lines, "C: of beanstalkd", one("C", "punctual"), one("C", "beanstalkd"), "1");
    ratio(
        lines,
        "C in plugin mode: of the best library",
        one("C", "punctual-plugin"),
        best("C"),
        "3");
    ratio(lines, "C1: of bare HTTP", one("C1", "punctual-single"), one("C1", "http"), "0.50");
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
