package io.punctual.server.check;

import java.io.PrintStream;
import java.util.Locale;

/** Prints what was tried, line by line as it is known, and remembers the worst. */
final class Table {

  private static final int WIDTH = 100;
  private static final int NAME = 30;

  private final PrintStream out;
  private final String secret;
  private int failures;
  private volatile boolean stopped;

  /** How one thing went. */
  enum Result {
    OK("ok"),
    /** Punctual does without it, or less well. */
    NOTE("note"),
    /** Punctual needs it. */
    FAIL("FAIL"),
    SKIPPED("-");

    private final String shown;

    Result(String shown) {
      this.shown = shown;
    }
  }

  /**
   * @param secret never to be printed; empty if there is none
   */
  Table(PrintStream out, String secret) {
    this.out = out;
    this.secret = secret;
  }

  /** Nothing more is to be tried: the program is told to end. */
  void stop() {
    stopped = true;
  }

  /**
   * To be called before each thing that is tried, and after it failed.
   *
   * @throws InterruptedException if the program is told to end
   */
  void requireGoing() throws InterruptedException {
    if (stopped) {
      throw new InterruptedException("the program is told to end");
    }
  }

  int failures() {
    return failures;
  }

  void heading(String text) {
    out.println();
    out.println(text);
  }

  void add(Result result, String name, String detail) {
    if (result == Result.FAIL) {
      failures++;
    }
    String indent = " ".repeat(8 + NAME);
    StringBuilder line =
        new StringBuilder(String.format(Locale.ROOT, "  %-5s %-" + NAME + "s", result.shown, name));
    if (line.length() > indent.length()) {
      line.append(' ');
    }
    for (String word : hidden(detail).split("\\s+", -1)) {
      if (line.length() + word.length() >= WIDTH && line.length() > indent.length()) {
        out.println(line.toString().stripTrailing());
        line = new StringBuilder(indent);
      }
      line.append(word).append(' ');
    }
    out.println(line.toString().stripTrailing());
    out.flush();
  }

  private String hidden(String text) {
    return secret.isEmpty() ? text : text.replace(secret, "***");
  }
}
