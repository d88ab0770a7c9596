package io.punctual.server.console;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The error of an attempt, split into parts.
 *
 * @param name the exception's class with its package; empty if the text does not begin with one
 * @param type the class without its package; empty if it is the message
 * @param message the first line without the class
 * @param head the text down to its second cause
 * @param rest the further causes; empty for none
 * @param causes how many further causes there are
 */
record ErrorText(String name, String type, String message, String head, String rest, int causes) {

  private static final int MAX_LINE = 300;
  private static final int OPEN_CAUSES = 2;
  private static final Pattern LINE =
      Pattern.compile("(?:[A-Za-z_$][\\w$]*\\.)+([A-Z_$][\\w$]*)(?::\\s*(.*)|$)");
  private static final Pattern CAUSE = Pattern.compile("(?m)^[ \\t]*Caused by:");

  /** Returns the message and the class as one line. */
  public String label() {
    return (message.isEmpty() ? "–" : message) + (type.isEmpty() ? "" : " " + type);
  }

  static ErrorText of(String text) {
    String first = text.lines().findFirst().orElse("").strip();
    String line = first.length() > MAX_LINE ? first.substring(0, MAX_LINE) : first;
    Matcher parts = LINE.matcher(line);
    List<Integer> causes = CAUSE.matcher(text).results().map(cause -> cause.start()).toList();
    int further = Math.max(0, causes.size() - OPEN_CAUSES);
    int end = further == 0 ? text.length() : causes.get(OPEN_CAUSES);
    String head = text.substring(0, end).stripTrailing();
    String rest = text.substring(end);
    if (!parts.matches()) {
      return new ErrorText("", "", line, head, rest, further);
    }
    String name = parts.group(2) == null ? line : line.substring(0, parts.end(1));
    String message = parts.group(2) == null ? "" : parts.group(2).strip();
    return message.isEmpty()
        ? new ErrorText(name, "", parts.group(1), head, rest, further)
        : new ErrorText(name, parts.group(1), message, head, rest, further);
  }
}
