package io.punctual.client.submit;

import io.punctual.SchedulerUnavailableException;
import io.punctual.internal.ConfiguredUrl;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** What was tried for one call, and what came of it: the text of the error, if all of it fails. */
final class Tries {

  private static final Duration RETRY_AFTER = Duration.ofSeconds(2);
  private static final String UNSENT = "Nothing was sent: ";

  private final SchedulerSource source;
  private final boolean changes;
  private final Map<URI, String> failures = new LinkedHashMap<>();
  private Duration retryAfter = RETRY_AFTER;
  private @Nullable RuntimeException unread;
  private @Nullable Exception last;
  private boolean refused;
  private boolean sent;

  /**
   * @param changes whether the call changes something
   */
  Tries(SchedulerSource source, boolean changes) {
    this.source = source;
    this.changes = changes;
  }

  /** The addresses of schedulers could not be read. */
  void unread(RuntimeException error) {
    unread = error;
  }

  /** The addresses of schedulers were read. */
  void read() {
    unread = null;
  }

  /**
   * A scheduler answered that it has no time.
   *
   * @param detail of its answer; may be empty
   */
  void busy(URI scheduler, int status, String detail, @Nullable Duration askedFor) {
    retryAfter = askedFor == null ? retryAfter : askedFor;
    // Too Many Requests is said before anything is done.
    refused = true;
    sent |= status != 429;
    String text = "HTTP " + status + (detail.isEmpty() ? "" : ": " + detail);
    failures.put(scheduler, text);
    last = new IOException(ConfiguredUrl.masked(scheduler) + " answered " + text);
  }

  /**
   * A scheduler did not answer.
   *
   * @param within how long it had
   * @return what happened, in words
   */
  String failed(URI scheduler, Exception error, Duration within) {
    sent |= !isBeforeSending(error);
    String text = described(error, within);
    failures.put(scheduler, text);
    last = error;
    return text;
  }

  /** The caller was interrupted while a call was on its way. */
  void interrupted() {
    sent = true;
  }

  private static boolean isBeforeSending(Exception error) {
    return error instanceof ConnectException
        || error instanceof HttpConnectTimeoutException
        || error instanceof UnknownHostException
        || error instanceof SSLHandshakeException;
  }

  private static String described(Exception error, Duration within) {
    if (error instanceof HttpConnectTimeoutException) {
      return "no connection in time";
    } else if (error instanceof HttpTimeoutException || hasCause(error, TimeoutException.class)) {
      return "no answer within " + seconds(within);
    } else if (error instanceof UnknownHostException
        || hasCause(error, UnresolvedAddressException.class)) {
      return "unknown host";
    }
    String message = error.getMessage();
    if (error instanceof ConnectException) {
      return message == null ? "connection refused" : message;
    }
    return error.getClass().getSimpleName() + (message == null ? "" : ": " + message);
  }

  private static boolean hasCause(Exception error, Class<? extends Exception> type) {
    return Stream.iterate(error.getCause(), Objects::nonNull, Throwable::getCause)
        .anyMatch(type::isInstance);
  }

  private static String seconds(Duration time) {
    long ms = time.toMillis();
    return ms % 1000 == 0 ? ms / 1000 + " s" : ms + " ms";
  }

  /** Returns the error where no scheduler took the call. */
  NoSchedulerException unavailable() {
    if (sent) {
      return unavailable("", "No scheduler answered: %s.".formatted(shown()), maybe());
    } else if (refused) {
      return unavailable(
          "Nothing was changed: ",
          "the schedulers refuse the call: %s.".formatted(shown()),
          "Repeat it in %s.".formatted(seconds(retryAfter)));
    } else if (!failures.isEmpty()) {
      return unavailable(
          UNSENT,
          "no scheduler accepts connections: %s.".formatted(shown()),
          source.remedy(/* known= */ true));
    } else if (unread != null) {
      last = unread;
      return unavailable(
          UNSENT,
          "the addresses of the schedulers cannot be read: %s.".formatted(unread),
          source.remedy(/* known= */ false));
    }
    return unavailable(
        UNSENT,
        "no scheduler is known: %s".formatted(source.whyNone()),
        source.remedy(/* known= */ false));
  }

  private NoSchedulerException unavailable(String outcome, String reason, String remedy) {
    return new NoSchedulerException(
        outcome,
        reason,
        remedy,
        retryAfter,
        sent && changes,
        last == null ? new IOException(reason) : last);
  }

  /**
   * Returns the error where the caller stops trying.
   *
   * @param why as the begin of a sentence
   */
  SchedulerUnavailableException stopped(String why, Exception cause) {
    return new SchedulerUnavailableException(
        why + (sent ? ". " + maybe() : ". Nothing was sent."), retryAfter, sent && changes, cause);
  }

  private String maybe() {
    return changes
        ? "The call may have taken effect: repeat it with the same task id."
        : "Repeat the call.";
  }

  private String shown() {
    return failures.entrySet().stream()
        .map(
            failure ->
                "%s (%s)".formatted(ConfiguredUrl.masked(failure.getKey()), failure.getValue()))
        .collect(Collectors.joining(", "));
  }
}
