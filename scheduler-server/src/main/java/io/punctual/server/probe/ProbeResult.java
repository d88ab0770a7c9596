package io.punctual.server.probe;

import static io.punctual.server.probe.Status.OK;
import static io.punctual.server.probe.Status.PROBLEM;
import static io.punctual.server.probe.Status.WARNING;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import io.punctual.server.text.Printable;
import io.punctual.server.text.Text;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The result of a probe, as the API answers it.
 *
 * @param code what it is, for programs
 * @param messageText what was found, for people
 * @param url where
 * @param remedyText what to do; null if nothing
 * @param at when, by the clock here
 * @param clockAheadMs how far the instance's clock is ahead of the one here; null if it did not say
 * @param version of the starter there; null if it did not say
 */
public record ProbeResult(
    Code code,
    @JsonIgnore Text messageText,
    String url,
    @JsonIgnore @Nullable Text remedyText,
    Instant at,
    @Nullable Long clockAheadMs,
    @Nullable String version) {

  /** What a probe can find; docs/doctor.md lists all of it. */
  public enum Code {
    /** A call got through, and its answer back. */
    REACHED(OK),
    /** A server is there; only a job can prove the rest. */
    UNPROVEN(OK),
    /** Calls get through to a worker that knows no pings. */
    NO_PING(WARNING),
    /** The clocks differ by more than they should. */
    CLOCK_OFF(WARNING),
    /** It takes no jobs now. */
    UNAVAILABLE(WARNING),
    /** The name has no address. */
    UNKNOWN_HOST(PROBLEM),
    /** The scheduler does not call such addresses. */
    ADDRESS_NOT_ALLOWED(PROBLEM),
    /** No program listens there. */
    CONNECTION_REFUSED(PROBLEM),
    /** No connection, and no refusal. */
    CONNECTION_TIMEOUT(PROBLEM),
    /** No route from here. */
    NO_ROUTE(PROBLEM),
    /** A connection, and no answer. */
    NO_ANSWER(PROBLEM),
    /** A connection, and something that is no HTTP. */
    NOT_HTTP(PROBLEM),
    /** It is registered with https, and there is plain HTTP. */
    TLS_TO_PLAIN_PORT(PROBLEM),
    /** It is registered with http, and there is TLS. */
    PLAIN_TO_TLS_PORT(PROBLEM),
    /** The scheduler does not trust the certificate, or it has expired. */
    CERTIFICATE_NOT_TRUSTED(PROBLEM),
    /** The certificate is one of another host. */
    CERTIFICATE_OF_ANOTHER_NAME(PROBLEM),
    /** The TLS handshake failed. */
    TLS_FAILED(PROBLEM),
    /** There is nothing at the path. */
    WRONG_PATH(PROBLEM),
    /** Something answers that takes no jobs. */
    NOT_A_CALLBACK(PROBLEM),
    /** Something in front asks for a login. */
    LOGIN_IN_FRONT(PROBLEM),
    /** The answer is a redirect. */
    REDIRECTED(PROBLEM),
    /** Another application answers there. */
    OTHER_APPLICATION(PROBLEM),
    /** The worker has no key. */
    WORKER_WITHOUT_KEY(PROBLEM),
    /** The scheduler has no key. */
    SCHEDULER_WITHOUT_KEY(PROBLEM),
    /** They have different keys. */
    KEYS_DIFFER(PROBLEM),
    /** The clocks differ by so much that no signature counts. */
    CLOCKS_APART(PROBLEM),
    /** The answer is not signed. */
    ANSWER_NOT_SIGNED(PROBLEM),
    /** The answer is signed with another key. */
    ANSWER_OF_ANOTHER_KEY(PROBLEM),
    /** Neither its registry nor itself says what it runs. */
    NO_TASK_TYPES(PROBLEM),
    /** The instance fails. */
    SERVER_ERROR(PROBLEM);

    private final Status status;

    Code(Status status) {
      this.status = status;
    }

    /** Its severity. */
    public Status status() {
      return status;
    }

    /** As the API writes it. */
    @JsonValue
    public String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Returns what was found, in English. */
  @JsonProperty
  public String message() {
    return message(Locale.ENGLISH);
  }

  /** Returns what was found, in the language of a locale: Chinese, or else English. */
  public String message(Locale locale) {
    return Printable.of(messageText.in(locale));
  }

  /** Returns what to do, in English; null if nothing. */
  @JsonProperty
  public @Nullable String remedy() {
    return remedyText == null ? null : remedyText.toString();
  }

  /** Its severity. */
  @JsonProperty
  public Status status() {
    return code.status();
  }
}
