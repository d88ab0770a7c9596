package io.punctual.server.console;

import io.punctual.server.metrics.RecentErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The error of an attempt, split into parts.
 *
 * @param name the exception's class with its package; empty if the text does not begin with one
 * @param type the class without its package; empty if it is the message
 * @param message the first line without the class
 * @param brief the text without library frames, and without the causes between the first and the
 *     last one
 * @param whole all of the text
 */
record ErrorText(String name, String type, String message, List<Part> brief, String whole) {

  private static final int MAX_LINE = 300;
  private static final int CAUSES = 2;
  private static final Pattern LINE =
      Pattern.compile("(?:[A-Za-z_$][\\w$]*\\.)+([A-Z_$][\\w$]*)(?::\\s*(.*)|$)");
  // The address is that of one instance, which is told beside the error.
  private static final Pattern ANSWER = Pattern.compile("^(HTTP \\d{3})(?: from \\S+)?: (?=\\S)");
  private static final Pattern CAUSE = Pattern.compile("(?m)^[ \\t]*Caused by:");
  private static final Pattern FRAME =
      Pattern.compile("[ \\t]*(?:at [^\\s(]+[ \\t]?\\(.*|\\.\\.\\. \\d+ (?:more|common).*)");
  private static final Pattern LIBRARY =
      Pattern.compile(
          "[ \\t]*(?:\\.\\.\\. .*|.*(?:\\$\\$|\\$Proxy\\d|node_modules|\\(node:).*"
              + "|at (?:[\\w.@-]*/)*(?:javax?|jdk|sun|com\\.sun|jakarta|kotlinx?|scala|groovy"
              + "|org\\.(?:springframework|apache|hibernate|eclipse|postgresql|mariadb|mongodb"
              + "|jboss|junit|slf4j|aspectj|mybatis|redisson|codehaus)"
              + "|com\\.(?:zaxxer|fasterxml|mysql|microsoft|google|netflix|rabbitmq|alibaba|mongodb)"
              + "|io\\.(?:netty|lettuce|micrometer|undertow|grpc|vertx|r2dbc|github\\.resilience4j"
              + "|punctual\\.(?:client|core|internal|spring))"
              + "|ch\\.qos|net\\.bytebuddy|oracle|tools\\.jackson|redis\\.clients|reactor|feign"
              + "|okhttp3|retrofit2)\\..*)");

  /** What a part of the brief text is. */
  enum Kind {
    TEXT,
    /** The frame of the application that is nearest to the error. */
    OWN,
    /** Frames that are left out. */
    FRAMES,
    /** Causes that are left out. */
    CAUSES
  }

  /**
   * A part of the brief text.
   *
   * @param text its lines; empty if they are left out
   * @param count how many frames or causes are left out
   */
  record Part(Kind kind, String text, int count) {

    /** Returns the name of its kind. */
    public String word() {
      return kind.name();
    }
  }

  /** Returns the message and the class as one line. */
  public String label() {
    return (message.isEmpty() ? "–" : message) + (type.isEmpty() ? "" : " " + type);
  }

  /** Returns whether the brief text leaves something out. */
  public boolean cut() {
    return brief.stream().anyMatch(part -> part.count > 0);
  }

  static ErrorText of(String text) {
    String first = RecentErrors.line(text);
    String line = first.length() > MAX_LINE ? first.substring(0, MAX_LINE) : first;
    String said = ANSWER.matcher(line).replaceFirst("");
    Matcher parts = LINE.matcher(said);
    List<Part> brief = brief(text);
    if (!parts.matches()) {
      return new ErrorText("", "", ANSWER.matcher(line).replaceFirst("$1: "), brief, text);
    }
    String name = parts.group(2) == null ? said : said.substring(0, parts.end(1));
    String message = parts.group(2) == null ? "" : parts.group(2).strip();
    return message.isEmpty()
        ? new ErrorText(name, "", parts.group(1), brief, text)
        : new ErrorText(name, parts.group(1), message, brief, text);
  }

  private static boolean isOwn(String line) {
    return FRAME.matcher(line).matches() && !LIBRARY.matcher(line).matches();
  }

  private static List<Part> brief(String text) {
    List<Integer> causes = CAUSE.matcher(text).results().map(cause -> cause.start()).toList();
    List<Part> parts = new ArrayList<>();
    if (causes.size() <= CAUSES) {
      frames(text, parts);
    } else {
      frames(text.substring(0, causes.get(1)), parts);
      parts.add(new Part(Kind.CAUSES, "", causes.size() - CAUSES));
      frames(text.substring(causes.get(causes.size() - 1)), parts);
    }
    // The last cause is the first thing that went wrong.
    int last = -1;
    for (int i = 0; i < parts.size(); i++) {
      boolean begins = i == 0 || parts.get(i - 1).kind != Kind.OWN;
      if (parts.get(i).kind == Kind.OWN && begins) {
        last = i;
      }
    }
    List<Part> marked = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      marked.add(part.kind == Kind.OWN && i != last ? new Part(Kind.TEXT, part.text, 0) : part);
    }
    return List.copyOf(marked);
  }

  // If all frames are library frames, none is left out.
  private static void frames(String text, List<Part> parts) {
    List<String> lines = text.stripTrailing().lines().toList();
    boolean folds = lines.stream().anyMatch(ErrorText::isOwn);
    int left = 0;
    for (String line : lines) {
      if (folds && FRAME.matcher(line).matches() && !isOwn(line)) {
        left++;
        continue;
      }
      if (left > 0) {
        parts.add(new Part(Kind.FRAMES, "", left));
        left = 0;
      }
      parts.add(new Part(isOwn(line) ? Kind.OWN : Kind.TEXT, line, 0));
    }
    if (left > 0) {
      parts.add(new Part(Kind.FRAMES, "", left));
    }
  }
}
