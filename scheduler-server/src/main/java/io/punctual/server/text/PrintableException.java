package io.punctual.server.text;

import org.jspecify.annotations.Nullable;

/**
 * Something that was thrown, as it may be written into a log with its trace: libraries quote what
 * strangers say in their messages, line breaks and all.
 */
public final class PrintableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private static final int CAUSES = 5;
  private static final int FRAMES = 40;

  private PrintableException(Throwable thrown, @Nullable PrintableException cause) {
    super(text(thrown), cause, false, true);
    StackTraceElement[] trace = thrown.getStackTrace();
    // A stack that was full would be thousands of lines.
    StackTraceElement[] begin = new StackTraceElement[Math.min(FRAMES, trace.length)];
    System.arraycopy(trace, 0, begin, 0, begin.length);
    setStackTrace(begin);
  }

  /** The same, to be logged. */
  public static PrintableException of(Throwable thrown) {
    return of(thrown, CAUSES);
  }

  private static PrintableException of(Throwable thrown, int causes) {
    Throwable cause = thrown.getCause();
    return new PrintableException(
        thrown, cause == null || causes == 0 ? null : of(cause, causes - 1));
  }

  /** Its class and what it says, on one line. */
  public static String text(Throwable thrown) {
    String message = thrown.getMessage();
    return thrown.getClass().getName() + (message == null ? "" : ": " + Printable.of(message));
  }
}
