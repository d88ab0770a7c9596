package io.punctual.systemtest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One invocation of a worker, as the worker wrote it down itself: a line when it begins, before
 * anything else happens, and a line when it ends, before the scheduler is told.
 *
 * @param run the invocation, unique over all processes
 * @param senders the schedulers that had sent the job to that process by then, host and port; none
 *     when it came in another way, or as a single job
 * @param claimed when a scheduler had claimed it, epoch microseconds: from then on its time counts.
 *     The beginning where that is not known
 * @param begin epoch microseconds
 * @param end epoch microseconds; null when the worker died first
 * @param ending how it ended; null when the worker died first
 * @param version of the content that it got, counted from 1; 0 for content without a version
 */
public record Execution(
    String run,
    String taskId,
    Set<String> senders,
    long claimed,
    long begin,
    @Nullable Long end,
    @Nullable Ending ending,
    int version) {

  private static final String VERSION = "@";

  /** How an invocation can end. */
  public enum Ending {
    /** The worker returned. */
    DONE,
    /** The worker threw something: it asked for another attempt, or never to be asked again. */
    FAILED
  }

  /** The process that it was in. */
  public long process() {
    return Long.parseLong(run.substring(0, run.indexOf('-')));
  }

  /** Whether it ended well. */
  public boolean done() {
    return ending == Ending.DONE;
  }

  /** Whether it is known to have ended more than that after it was claimed, microseconds. */
  boolean lasted(long limit) {
    return end != null && end - Math.min(claimed, begin) > limit;
  }

  /** Returns the first word of a job's params: its task id and the version of its content. */
  public static String content(String taskId, int version) {
    return taskId + VERSION + version;
  }

  /** Returns the task id that the first word of a job's params names. */
  public static String taskIdOf(String content) {
    return content.split(VERSION, 2)[0];
  }

  /** Returns the version that the first word of a job's params names, 0 for none. */
  public static int versionOf(String content) {
    String[] parts = content.split(VERSION, 2);
    return parts.length < 2 ? 0 : Integer.parseInt(parts[1]);
  }

  /**
   * The line that is written at the beginning.
   *
   * @param content the first word of the job's params
   * @param claimed epoch microseconds; 0 if that is not known
   */
  public static String beginLine(
      String run, String content, long micros, Set<String> senders, long claimed) {
    return "begin %s %s %d %s %d %d\n"
        .formatted(
            run, taskIdOf(content), micros, String.join(",", senders), versionOf(content), claimed);
  }

  /** The line that is written at the end. */
  public static String endLine(String run, String taskId, long micros, Ending ending) {
    return "end " + run + " " + taskId + " " + micros + " " + ending + "\n";
  }

  static List<Execution> parse(Collection<String> lines) {
    Map<String, Execution> byRun = new LinkedHashMap<>();
    lines.forEach(line -> add(line, byRun));
    return new ArrayList<>(byRun.values());
  }

  /** Adds what a line says to the invocations by their ids. */
  static void add(String line, Map<String, Execution> byRun) {
    String[] words = line.split(" ", -1);
    long micros = Long.parseLong(words[3]);
    if (words[0].equals("begin")) {
      byRun.put(
          words[1],
          new Execution(
              words[1],
              words[2],
              senders(words),
              claimed(words, micros),
              micros,
              null,
              null,
              version(words)));
    } else {
      Execution begun = byRun.get(words[1]);
      if (begun == null) {
        throw new IllegalStateException("ended without having begun: " + line);
      }
      byRun.put(words[1], begun.ended(micros, Ending.valueOf(words[4])));
    }
  }

  private static Set<String> senders(String[] words) {
    return words.length < 5 || words[4].isEmpty() ? Set.of() : Set.of(words[4].split(",", -1));
  }

  private static int version(String[] words) {
    return words.length < 6 ? 0 : Integer.parseInt(words[5]);
  }

  private static long claimed(String[] words, long begin) {
    long claimed = words.length < 7 ? 0 : Long.parseLong(words[6]);
    return claimed == 0 ? begin : claimed;
  }

  private Execution ended(long micros, Ending how) {
    return new Execution(run, taskId, senders, claimed, begin, micros, how, version);
  }
}
