package io.punctual.benchmark;

import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** When, on what and of which commit figures are; in the file, it stands before them. */
final class Origin {

  /** The part of the figure that says so. */
  static final String PART = "run";

  private Origin() {}

  /** This run, which begins now. */
  static Figure now() throws IOException {
    String date =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm")
            .withZone(ZoneOffset.UTC)
            .format(Clock.systemUTC().instant());
    String root = ModuleDirectory.root().toString();
    String commit =
        found(
            Machine.output("git", "-C", root, "rev-parse", "--short", "HEAD"),
            Pattern.compile("^([0-9a-f]+)$", Pattern.MULTILINE));
    boolean changed =
        !Machine.output("git", "-C", root, "status", "--porcelain", "-uno").strip().isEmpty();
    int processors = Runtime.getRuntime().availableProcessors();
    String machine =
        "%d processors (%s), %d GiB, %s, Java %s, %s, load %s before"
            .formatted(
                processors,
                found("/proc/cpuinfo", "model name\\s*: (.*)"),
                Math.round(
                    Double.parseDouble(found("/proc/meminfo", "MemTotal:\\s*(\\d+)")) / 1048576),
                found("/etc/os-release", "PRETTY_NAME=\"(.*)\""),
                System.getProperty("java.version"),
                "Redis "
                    + found(
                        Machine.output("redis-server", "--version"), Pattern.compile("v=(\\S+)")),
                found("/proc/loadavg", "^(\\S+)"));
    return new Figure(
        PART,
        date + " UTC",
        commit + (changed ? " with changes" : ""),
        new double[] {processors},
        machine);
  }

  /** A run for people. */
  static String text(Figure run) {
    return "%s, commit %s: %s".formatted(run.who(), run.metric(), run.note());
  }

  private static String found(String file, String pattern) throws IOException {
    return found(Files.readString(Path.of(file)), Pattern.compile(pattern, Pattern.MULTILINE));
  }

  private static String found(String text, Pattern pattern) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? matcher.group(1).strip() : "?";
  }
}
