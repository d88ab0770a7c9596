package io.punctual.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The figures as people read them, in Markdown, with pictures. */
final class Report {

  private static final String BEGIN = "<!-- begin of what the benchmark writes -->\n";
  private static final String END = "<!-- end of what the benchmark writes -->";
  private static final String OURS = "punctual";
  private static final Set<String> LIMITS = Set.of("http", "redis");
  private static final List<String> LIBRARIES =
      List.of("redisson", "bullmq", "db-scheduler", "jobrunr", "quartz", "quartz-ram");
  private static final Set<String> OTHERS = Set.of("beanstalkd", "rabbitmq", "artemis");
  private static final List<Column> COMPARED =
      List.of(
          new Column("A1", "jobs/s", true),
          new Column("A2", "jobs/s", true),
          new Column("B", "p50 ms", false),
          new Column("B", "p99 ms", false),
          new Column("B", "max ms", false),
          new Column("C", "jobs/s", true),
          new Column("D", "bytes/job over the payload", false));
  private static final Pattern NUMBER = Pattern.compile("\\d[\\d,]*");

  private record Column(String part, String metric, boolean moreIsBetter) {

    private boolean holds(Figure figure) {
      return figure.part().equals(part) && figure.metric().equals(metric);
    }

    private boolean better(Figure one, Figure other) {
      return moreIsBetter ? one.median() > other.median() : one.median() < other.median();
    }
  }

  // The last of each; what stands in the file before them.
  private final List<Figure> figures;
  private final Map<Figure, Figure> runs;

  Report(List<Figure> all) {
    Map<List<String>, Figure> last = new LinkedHashMap<>();
    this.runs = new LinkedHashMap<>();
    Figure run = null;
    for (Figure figure : all) {
      if (figure.part().equals(Origin.PART)) {
        run = figure;
      } else {
        last.put(List.of(figure.part(), figure.who(), figure.metric()), figure);
        if (run != null) {
          runs.put(figure, run);
        }
      }
    }
    this.figures = List.copyOf(last.values());
  }

  /** Puts the report where a page has its markers, and the pictures into a folder beside it. */
  void publish(Path page) throws IOException {
    String text = Files.readString(page);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException(page + " has no place for the report, between\n" + BEGIN + END);
    }
    begin += BEGIN.length();
    Files.writeString(page, text.substring(0, begin) + text() + text.substring(end));
    write(page.resolveSibling("images"));
  }

  /** Writes the pictures. */
  void write(Path directory) throws IOException {
    Files.createDirectories(directory);
    for (Map.Entry<String, Plot> picture : pictures().entrySet()) {
      Files.writeString(directory.resolve(picture.getKey() + ".svg"), picture.getValue().svg());
    }
  }

  String text() {
    StringBuilder text = new StringBuilder();
    behind(text);
    comparison(text);
    durability(text);
    own(text);
    targets(text);
    pictures(text);
    return text.append('\n').toString();
  }

  /** Where others are better: first. */
  private void behind(StringBuilder text) {
    List<String> lines = new ArrayList<>();
    for (Column column : COMPARED) {
      Optional<Figure> ours = one(column.part, OURS, column.metric);
      if (ours.isEmpty()) {
        continue;
      }
      List<Figure> better =
          figures.stream()
              .filter(column::holds)
              .filter(figure -> isProduct(figure.who()) && !figure.who().startsWith(OURS))
              .filter(figure -> column.better(figure, ours.get()))
              .toList();
      if (!better.isEmpty()) {
        lines.add(
            "- **%s, %s**: %s; Punctual %s."
                .formatted(
                    column.part,
                    column.metric,
                    better.stream()
                        .map(figure -> figure.who() + " " + figure.text())
                        .collect(Collectors.joining(", ")),
                    ours.get().text()));
      }
    }
    if (!lines.isEmpty()) {
      text.append("\n### Where others are better\n\n");
      lines.forEach(line -> text.append(line).append('\n'));
    }
  }

  private static boolean isProduct(String who) {
    return who.matches("punctual(-\\w+)?") || LIBRARIES.contains(who) || OTHERS.contains(who);
  }

  /** A line a contender. */
  private void comparison(StringBuilder text) {
    matrix(
        text,
        "The same work, one contender after the other",
        figure ->
            COMPARED.stream().anyMatch(column -> column.holds(figure))
                && (isProduct(figure.who()) || LIMITS.contains(figure.who())),
        COMPARED);
  }

  /** What a contender reaches with another setting of what it keeps, beside the table's. */
  private void durability(StringBuilder text) {
    Set<String> names =
        figures.stream()
            .filter(figure -> figure.who().contains(" ("))
            .map(figure -> figure.who().substring(0, figure.who().indexOf(" (")))
            .collect(Collectors.toSet());
    List<Column> columns = List.of(COMPARED.get(0), COMPARED.get(1), COMPARED.get(5));
    matrix(
        text,
        "Durability",
        figure ->
            names.contains(figure.who().split(" \\(", 2)[0])
                && columns.stream().anyMatch(column -> column.holds(figure)),
        columns);
  }

  private void matrix(
      StringBuilder text, String heading, Predicate<Figure> belongs, List<Column> columns) {
    // A contender's other settings behind it.
    Map<String, List<Figure>> lines = new TreeMap<>();
    figures.stream()
        .filter(belongs)
        .forEach(
            figure -> lines.computeIfAbsent(figure.who(), who -> new ArrayList<>()).add(figure));
    if (lines.isEmpty()) {
      return;
    }
    heading(text, heading, lines.values().stream().flatMap(Collection::stream).toList());
    text.append("| |");
    columns.forEach(
        column ->
            text.append(" ").append(column.part).append(", ").append(column.metric).append(" |"));
    text.append(" notes |\n| --- |").append(" ---: |".repeat(columns.size())).append(" --- |\n");
    lines.forEach(
        (who, some) -> {
          text.append("| ").append(who).append(" |");
          for (Column column : columns) {
            text.append(' ')
                .append(
                    some.stream()
                        .filter(column::holds)
                        .map(Figure::text)
                        .collect(Collectors.joining()))
                .append(" |");
          }
          text.append(' ').append(notes(some)).append(" |\n");
        });
  }

  private static String notes(List<Figure> some) {
    Map<String, Set<String>> notes = new LinkedHashMap<>();
    some.stream()
        .filter(figure -> !figure.note().isEmpty())
        .forEach(
            figure ->
                notes
                    .computeIfAbsent(figure.note(), note -> new LinkedHashSet<>())
                    .add(figure.part()));
    return notes.entrySet().stream()
        .map(note -> String.join(", ", note.getValue()) + ": " + note.getKey())
        .collect(Collectors.joining("; "));
  }

  /** All that is measured on Punctual only. */
  private void own(StringBuilder text) {
    Map<String, List<Figure>> byPart = new TreeMap<>();
    figures.stream()
        .filter(figure -> COMPARED.stream().noneMatch(column -> column.holds(figure)))
        .filter(figure -> !figure.metric().equals(Figure.DISTRIBUTION))
        .filter(figure -> !figure.metric().equals("p90 ms"))
        .filter(figure -> !figure.who().contains("("))
        .forEach(
            figure -> byPart.computeIfAbsent(figure.part(), part -> new ArrayList<>()).add(figure));
    if (byPart.isEmpty()) {
      return;
    }
    heading(text, "Further parts", byPart.values().stream().flatMap(Collection::stream).toList());
    text.append("| part | | what | median (range) | note |\n");
    text.append("| --- | --- | --- | ---: | --- |\n");
    byPart.forEach(
        (part, some) ->
            some.forEach(
                figure ->
                    text.append(
                        "| %s | %s | %s | %s | %s |\n"
                            .formatted(
                                part,
                                figure.who(),
                                figure.metric(),
                                figure.text(),
                                figure.note()))));
  }

  private void heading(StringBuilder text, String heading, List<Figure> some) {
    text.append("\n### ").append(heading).append("\n\n");
    String measured = runsOf(some);
    if (!measured.isEmpty()) {
      text.append(measured).append("\n\n");
    }
  }

  private String runsOf(List<Figure> some) {
    return some.stream()
        .map(runs::get)
        .filter(run -> run != null)
        .distinct()
        .map(Origin::text)
        .collect(Collectors.joining(".\n", "", "."))
        .transform(text -> text.equals(".") ? "" : text);
  }

  private void targets(StringBuilder text) {
    List<String> lines = new ArrayList<>();
    ratio(lines, "A1: of the same stack's empty POSTs", ours("A1"), one("A1", "http"), "0.60");
    ratio(
        lines,
        "A1: a POST a job, of the same",
        one("A1", "punctual-single"),
        one("A1", "http"),
        "");
    ratio(lines, "A2: of pipelined HSET and ZADD", ours("A2"), one("A2", "redis"), "0.50");
    value(lines, "A3: jobs/s", one("A3", "punctual-single"), "at least 12,000");
    value(lines, "B: p50 ms", one("B", OURS, "p50 ms"), "at most 0.5");
    value(lines, "B: p99 ms", one("B", OURS, "p99 ms"), "at most 3");
    value(lines, "B2: p99 ms", one("B2", OURS, "p99 ms"), "at most 50");
    ratio(lines, "C: of the best library", ours("C"), best("C"), "3");
    ratio(lines, "C: of beanstalkd", ours("C"), one("C", "beanstalkd"), "1");
    ratio(
        lines,
        "C in plugin mode: of the best library",
        one("C", "punctual-plugin"),
        best("C"),
        "5");
    ratio(lines, "C1: of bare HTTP", one("C1", "punctual-single"), one("C1", "http"), "0.50");
    value(lines, "D: bytes over the payload", ours("D"), "at most 160");
    value(lines, "E: CPU s/min", ours("E"), "at most 1.8");
    value(lines, "E: MB of heap and stacks", one("E", OURS, "MB of heap and stacks"), "under 600");
    List<Figure> pending = part("F");
    if (pending.size() == 6) {
      ratio(lines, "F: submit, largest over smallest", pending.get(4), pending.get(0), "1.3");
      ratio(lines, "F: claim, largest over smallest", pending.get(5), pending.get(1), "1.3");
      lines.add(
          "| F: submit, claim and ack, us | %.1f | at most 12 |"
              .formatted(pending.get(0).median() + pending.get(1).median()));
    }
    value(lines, "G: s to the first job", ours("G"), "at most 5");
    part("H")
        .forEach(shape -> ratio(lines, "H: " + shape.who(), shape, ours("C").orElse(shape), ""));
    overFirst(lines, "S1", "script calls a job", "schedulers: 8", "1.3");
    overFirst(lines, "S1", "CPU us a job, all schedulers", "schedulers: 8", "1.3");
    overFirst(lines, "S2", "CPU s/min, schedulers and Redis", "schedulers: 4", "2");
    part("S3").stream()
        .filter(figure -> figure.metric().startsWith("CPU us a job, everything"))
        .collect(
            Collectors.teeing(
                Collectors.minBy(Report::byMedian),
                Collectors.maxBy(Report::byMedian),
                (least, most) ->
                    most.map(figure -> figure.median() / least.orElseThrow().median())))
        .ifPresent(
            spread ->
                lines.add("| S3: the largest over the smallest | %.2f | 1.15 |".formatted(spread)));
    value(lines, "S4: max ms", one("S4", OURS, "max ms"), "at most 2,000");
    overFirst(lines, "P", "CPU us a job, Redis, submit included", "10,000 bytes", "1.5");
    value(lines, "L: p99 ms, last minute", one("L", OURS, "p99 ms, last minute"), "at most 3");
    ratio(
        lines,
        "L: Redis's CPU a job, last minute over first",
        one("L", OURS, "CPU us a job, Redis, last minute"),
        one("L", OURS, "CPU us a job, Redis, first minute"),
        "1.1");
    if (!lines.isEmpty()) {
      text.append("\n### Targets\n\n| target | reached | wanted |\n| --- | ---: | ---: |\n");
      lines.forEach(line -> text.append(line).append('\n'));
    }
  }

  private static int byMedian(Figure one, Figure other) {
    return Double.compare(one.median(), other.median());
  }

  /** One configuration over the first that was measured. */
  private void overFirst(
      List<String> lines, String part, String metric, String who, String wanted) {
    Optional<Figure> first =
        part(part).stream().filter(figure -> figure.metric().equals(metric)).findFirst();
    ratio(
        lines,
        first
            .map(figure -> "%s: %s, %s over %s".formatted(part, metric, who, figure.who()))
            .orElse(part),
        one(part, who, metric),
        first,
        wanted);
  }

  private static void ratio(
      List<String> lines,
      String what,
      Optional<Figure> ours,
      Optional<Figure> theirs,
      String wanted) {
    if (ours.isPresent() && theirs.isPresent()) {
      ratio(lines, what, ours.get(), theirs.get(), wanted);
    }
  }

  private static void ratio(
      List<String> lines, String what, Figure ours, Figure theirs, String wanted) {
    lines.add("| %s | %.2f | %s |".formatted(what, ours.median() / theirs.median(), wanted));
  }

  private static void value(List<String> lines, String what, Optional<Figure> ours, String wanted) {
    ours.ifPresent(
        figure -> lines.add("| %s | %,.2f | %s |".formatted(what, figure.median(), wanted)));
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
    return one(part, OURS);
  }

  private Optional<Figure> one(String part, String who) {
    return part(part).stream().filter(figure -> figure.who().equals(who)).findFirst();
  }

  private Optional<Figure> best(String part) {
    return part(part).stream()
        .filter(figure -> LIBRARIES.contains(figure.who()))
        .max(Report::byMedian);
  }

  private void pictures(StringBuilder text) {
    pictures()
        .forEach(
            (name, plot) -> text.append("\n![%s](images/%s.svg)\n".formatted(plot.title(), name)));
  }

  private Map<String, Plot> pictures() {
    Map<String, Plot> pictures = new LinkedHashMap<>();
    String late = "percentile of the jobs";
    pictures.put(
        "lateness-of-all",
        curves(
            new Plot(
                "Lateness at 500 jobs/s (B)", late, Plot.Axis.TAIL, "ms", Plot.Axis.LOGARITHMIC),
            distributions(figure -> isProduct(figure.who()))));
    pictures.put(
        "lateness-by-load",
        curves(
            new Plot("Lateness by load", late, Plot.Axis.TAIL, "ms", Plot.Axis.LOGARITHMIC),
            distributions(figure -> figure.who().endsWith("jobs/s"))));
    pictures.put(
        "drain-by-concurrency",
        series(
            new Plot(
                "Drain (C) by the worker's concurrency",
                "concurrency",
                Plot.Axis.LOGARITHMIC,
                "jobs/s",
                Plot.Axis.LINEAR),
            figure -> figure.part().equals("C") && figure.who().startsWith("concurrency "),
            figure -> "jobs/s"));
    pictures.put(
        "cost-by-schedulers",
        series(
            new Plot(
                "CPU of a job at 200 jobs/s (S1)",
                "schedulers",
                Plot.Axis.LINEAR,
                "us a job",
                Plot.Axis.LINEAR),
            figure -> figure.part().equals("S1") && figure.metric().startsWith("CPU"),
            figure -> figure.metric().replace("CPU us a job, ", "")));
    pictures.put(
        "calls-by-schedulers",
        series(
            new Plot(
                "Script calls of a job at 200 jobs/s (S1)",
                "schedulers",
                Plot.Axis.LINEAR,
                "calls a job",
                Plot.Axis.LINEAR),
            figure -> figure.part().equals("S1") && figure.metric().startsWith("script"),
            figure -> "calls"));
    pictures.values().removeIf(Plot::isEmpty);
    return pictures;
  }

  private List<Figure> distributions(Predicate<Figure> belongs) {
    return part("B").stream()
        .filter(figure -> figure.metric().equals(Figure.DISTRIBUTION))
        .filter(belongs)
        .toList();
  }

  private static Plot curves(Plot plot, List<Figure> distributions) {
    distributions.forEach(
        figure ->
            plot.add(
                figure.who(),
                Arrays.copyOf(Distribution.PERCENTILES, figure.values().length),
                figure.values()));
    return plot;
  }

  /** A curve a name, over the number in what its figures are called. */
  private Plot series(Plot plot, Predicate<Figure> belongs, Function<Figure, String> name) {
    Map<String, TreeMap<Double, Double>> curves = new LinkedHashMap<>();
    figures.stream()
        .filter(belongs)
        .forEach(
            figure ->
                NUMBER
                    .matcher(figure.who())
                    .results()
                    .findFirst()
                    .ifPresent(
                        number ->
                            curves
                                .computeIfAbsent(name.apply(figure), key -> new TreeMap<>())
                                .put(
                                    Double.parseDouble(number.group().replace(",", "")),
                                    figure.median())));
    curves.forEach(
        (key, points) -> plot.add(key, doubles(points.keySet()), doubles(points.values())));
    return plot;
  }

  private static double[] doubles(Collection<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }
}
