package io.punctual.server.probe;

import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.dispatch.callback.PingResult.Answered;
import io.punctual.server.dispatch.callback.PingResult.NoAnswer;
import io.punctual.server.dispatch.callback.PingResult.NotCalled;
import io.punctual.server.probe.ProbeResult.Code;
import io.punctual.server.registry.RegisteredSource;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.text.Printable;
import io.punctual.server.text.Text;
import io.punctual.server.text.Texts;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.PingAnswer;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.web.util.UriComponents;
import org.springframework.web.util.UriComponentsBuilder;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Finds out what is wrong with one instance from the outcome of a ping. The texts are in
 * diagnoses.properties.
 */
final class ProbeDiagnosis {

  /** A worker's clock that is further ahead refuses signed calls as late. */
  static final Duration CLOCKS = CallbackSignature.END_TOLERANCE;

  // A network that container engines make, and the name that they give.
  private static final Pattern CONTAINER =
      Pattern.compile("172\\.(1[6-9]|2\\d|3[01])\\.\\d+\\.\\d+|[0-9a-f]{12}");
  private static final Pattern LOGIN =
      Pattern.compile("(?i).*(login|logon|signin|sign-in|sso|oauth2|openid|saml|auth).*");
  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();
  private static final Texts TEXTS = new Texts("diagnoses", ProbeDiagnosis.class);

  // What is set depends on where the instance is registered.
  private static final Map<String, String> REGISTRATIONS =
      Map.of(
          "eureka",
          ".eureka",
          "zookeeper",
          ".zookeeper",
          "consul",
          ".consul",
          "nacos",
          ".nacos",
          "kubernetes",
          ".kubernetes",
          RegisteredSource.NAME,
          ".scheduler");

  private final WorkerInstance instance;
  private final URI url;
  private final String host;
  private final Instant at;
  private @Nullable Long clockAhead;
  private @Nullable String version;
  private @Nullable WorkerMetadata says;
  private boolean namesTypes;

  private ProbeDiagnosis(WorkerInstance instance, Instant at) {
    this.instance = instance;
    this.url = instance.callback();
    this.host = String.valueOf(url.getHost());
    this.at = at;
  }

  /**
   * What a ping showed.
   *
   * @param says what the instance says of itself; null if its answer is no proof or says nothing
   */
  record Finding(ProbeResult result, @Nullable WorkerMetadata says) {}

  /**
   * Diagnoses an instance.
   *
   * @param at when the ping ended, by the clock here
   */
  static Finding of(WorkerInstance instance, PingResult ping, Instant at) {
    ProbeDiagnosis diagnosis = new ProbeDiagnosis(instance, at);
    ProbeResult result =
        switch (ping) {
          case NotCalled notCalled -> diagnosis.notCalled(notCalled.reason());
          case NoAnswer none -> diagnosis.noAnswer(none);
          case Answered answered -> diagnosis.answered(answered);
        };
    return new Finding(result, diagnosis.says);
  }

  private ProbeResult result(Code code) {
    return result(code, "", "");
  }

  private ProbeResult result(Code code, String variant) {
    return result(code, variant, "");
  }

  /**
   * Makes a result.
   *
   * @param variant of the texts; empty for those of the code
   * @param detail stands in the message; may come from strangers
   */
  private ProbeResult result(Code code, String variant, Object detail) {
    return new ProbeResult(
        code,
        Objects.requireNonNull(text(code, variant, "message", detail)),
        url.toString(),
        text(code, variant, "remedy", detail),
        at,
        clockAhead,
        version);
  }

  private @Nullable Text text(Code code, String variant, String part, Object detail) {
    Map<String, Object> values =
        new HashMap<>(TEXTS.endingIn(REGISTRATIONS.getOrDefault(instance.source(), ".other")));
    values.put("detail", detail);
    values.put("host", host);
    values.put("authority", host + ":" + url.getPort());
    values.put("path", url.getPath());
    values.put("application", instance.application());
    values.put("url", url);
    values.put("hint", CONTAINER.matcher(host).matches() ? TEXTS.part("container") : "");
    return TEXTS.get(code.word(), variant, part, values);
  }

  private ProbeResult noAnswer(NoAnswer none) {
    if (none.speaksTls()) {
      return result(Code.PLAIN_TO_TLS_PORT);
    }
    return switch (none.failure()) {
      case TLS -> tls(none.cause() == null ? new SSLException("failed") : none.cause());
      case UNKNOWN_HOST -> result(Code.UNKNOWN_HOST);
      case ADDRESS_NOT_ALLOWED -> notCalled(none.failure().text());
      case TIMED_OUT -> result(Code.CONNECTION_TIMEOUT);
      case NO_ROUTE -> result(Code.NO_ROUTE);
      case REFUSED -> result(Code.CONNECTION_REFUSED);
      case NO_ANSWER -> result(Code.NO_ANSWER);
      // What came instead is not quoted: it may be the greeting of any service in reach.
      case NOT_HTTP -> result(Code.NOT_HTTP);
      case BROKE -> result(Code.NOT_HTTP, "closed");
    };
  }

  private ProbeResult notCalled(String reason) {
    boolean loopback = host.startsWith("127.") || host.equals("localhost") || host.equals("[::1]");
    return result(Code.ADDRESS_NOT_ALLOWED, loopback ? "loopback" : "", reason);
  }

  private ProbeResult tls(Throwable cause) {
    String root = describe(NestedExceptionUtils.getMostSpecificCause(cause));
    if (says(cause, "Unsupported or unrecognized SSL message", "plaintext connection")) {
      return result(Code.TLS_TO_PLAIN_PORT);
    } else if (says(cause, "subject alternative", "No name matching")) {
      return result(Code.CERTIFICATE_OF_ANOTHER_NAME, "", root);
    } else if (says(cause, "PKIX")
        || causes(cause).anyMatch(thrown -> thrown instanceof CertificateException)) {
      return result(Code.CERTIFICATE_NOT_TRUSTED, "", root);
    }
    return result(Code.TLS_FAILED, "", root);
  }

  private ProbeResult answered(Answered answer) {
    if (answer.speaksTls()) {
      return result(Code.PLAIN_TO_TLS_PORT);
    }
    Optional<CallbackRefusal> refusal =
        answer.headers().firstValue(CallbackRefusal.HEADER).flatMap(CallbackRefusal::of);
    int status = answer.status();
    if (refusal.isPresent()) {
      return refused(refusal.get(), answer);
    } else if (status == 421) {
      return refused(CallbackRefusal.OTHER_APPLICATION, answer);
    } else if (status >= 300 && status < 400) {
      return redirected(answer);
    } else if (status == 502 || status == 503 || status == 504) {
      return result(Code.UNAVAILABLE, "", "HTTP " + status);
    }
    boolean batch = instance.metadata().protocol().equals(WorkerMetadata.BATCH);
    if (status >= 500 && (batch || status != 501)) {
      return result(Code.SERVER_ERROR, "", "HTTP " + status);
    }
    return batch ? batch(answer) : single(answer);
  }

  private ProbeResult refused(CallbackRefusal refusal, Answered answer) {
    String said = Printable.of(answer.body().strip());
    String detail = "HTTP " + answer.status() + (said.isEmpty() ? "" : ": " + said);
    return switch (refusal) {
      case OTHER_APPLICATION -> result(Code.OTHER_APPLICATION, "", detail);
      case OTHER_INSTANCE -> result(Code.OTHER_APPLICATION, "instance", detail);
      case NO_KEY, NOT_THIS_MACHINE -> result(Code.WORKER_WITHOUT_KEY, "", detail);
      case UNSIGNED -> result(Code.SCHEDULER_WITHOUT_KEY, "", detail);
      case WRONG_SIGNATURE -> result(Code.KEYS_DIFFER, "", detail);
      case CLOCK, LATE -> {
        clockAhead = byDate(answer);
        yield result(Code.CLOCKS_APART, "", detail);
      }
      case REPEATED -> result(Code.NOT_A_CALLBACK, "repeated", detail);
    };
  }

  private ProbeResult redirected(Answered answer) {
    String to = answer.headers().firstValue("Location").orElse("");
    Text detail = part("redirect", "status", answer.status(), "to", origin(to));
    if (LOGIN.matcher(to).matches()) {
      return result(Code.LOGIN_IN_FRONT, "", detail);
    }
    boolean secure = to.startsWith("https:") && "http".equals(url.getScheme());
    return result(Code.REDIRECTED, secure ? "https" : "", detail);
  }

  private static Text part(String name, Object... values) {
    return new Text(TEXTS, name, Texts.values(values));
  }

  /** Scheme and host of an address: the rest may be secret. */
  private static Object origin(String location) {
    UriComponents to;
    try {
      to = UriComponentsBuilder.fromUriString(location).build();
    } catch (IllegalArgumentException e) {
      return part("redirect.invalid");
    }
    if (to.getHost() == null) {
      return part("redirect.path");
    }
    return Printable.of(
        to.getScheme() == null ? to.getHost() : to.getScheme() + "://" + to.getHost());
  }

  private ProbeResult batch(Answered answer) {
    int status = answer.status();
    String detail = "HTTP " + status + " at " + url.getPath();
    if (status == 401 || status == 403 || status == 407) {
      return result(Code.LOGIN_IN_FRONT, "", detail);
    } else if (status == 404) {
      return result(Code.WRONG_PATH);
    } else if (status == 400 && answer.body().contains("Punctual scheduler")) {
      clockAhead = byDate(answer);
      return reached(Code.NO_PING, "", "");
    } else if (status != 200) {
      return result(Code.NOT_A_CALLBACK, "", detail);
    } else if (answer.body().isBlank()) {
      clockAhead = byDate(answer);
      says = instance.registered();
      return reached(Code.NO_PING, "empty", "");
    }
    PingAnswer pong = parsed(answer);
    if (answer.signature() == PingResult.Signature.WRONG) {
      return result(Code.ANSWER_OF_ANOTHER_KEY);
    } else if (pong == null) {
      return result(Code.NOT_A_CALLBACK, "", part("ping.none"));
    } else if (answer.signature() == PingResult.Signature.MISSING) {
      return result(Code.ANSWER_NOT_SIGNED);
    } else if (!instance.application().equalsIgnoreCase(pong.application())) {
      return refused(CallbackRefusal.OTHER_APPLICATION, answer);
    }
    version = pong.version() == null ? null : Printable.of(pong.version());
    clockAhead = pong.time() - answer.at().toEpochMilli();
    try {
      says = instance.registered().with(pong);
    } catch (IllegalArgumentException | NullPointerException e) {
      return result(Code.NOT_A_CALLBACK, "", part("ping.wrong", "detail", describe(e)));
    }
    namesTypes = pong.taskTypes() != null;
    boolean signed = answer.signature() == PingResult.Signature.RIGHT;
    return reached(Code.REACHED, signed ? "signed" : "", "");
  }

  private ProbeResult single(Answered answer) {
    int status = answer.status();
    String detail = "HTTP " + status;
    clockAhead = byDate(answer);
    if ((status == 401 || status == 403)
        && answer.headers().firstValue("WWW-Authenticate").isPresent()) {
      return result(
          Code.LOGIN_IN_FRONT, "", detail + " with WWW-Authenticate, to OPTIONS " + url.getPath());
    }
    if (answer.signature() == PingResult.Signature.WRONG) {
      return result(Code.ANSWER_OF_ANOTHER_KEY, "single", detail);
    } else if (answer.signature() == PingResult.Signature.MISSING) {
      return result(Code.ANSWER_NOT_SIGNED, "single", detail);
    } else if (answer.signature() == PingResult.Signature.RIGHT) {
      return reached(Code.REACHED, "proven", detail);
    }
    boolean takesPost =
        answer.headers().allValues("Allow").stream()
            .anyMatch(allow -> allow.toUpperCase(Locale.ROOT).contains("POST"));
    return takesPost || (status >= 200 && status < 300)
        ? reached(Code.REACHED, "options", detail)
        : reached(Code.UNPROVEN, status == 404 ? "path" : "", detail);
  }

  /** Makes the result of a worker that is reached, unless its clock is off. */
  private ProbeResult reached(Code code, String variant, String detail) {
    if (!namesTypes && instance.registered().taskTypes().isEmpty()) {
      return result(Code.NO_TASK_TYPES);
    }
    Long ahead = clockAhead;
    if (ahead == null || Math.abs(ahead) <= CLOCKS.toMillis()) {
      return result(code, variant, detail);
    }
    return result(
        Code.CLOCK_OFF,
        "",
        part(
            ahead > 0 ? "clock.ahead" : "clock.behind",
            "detail",
            Objects.requireNonNull(text(code, variant, "message", detail)),
            "seconds",
            Duration.ofMillis(Math.abs(ahead)).toSeconds()));
  }

  private static @Nullable PingAnswer parsed(Answered answer) {
    String line = answer.body().lines().findFirst().orElse("");
    try {
      PingAnswer pong = JSON.readValue(line, PingAnswer.class);
      return isWhole(pong) ? pong : null;
    } catch (JacksonException e) {
      return null;
    }
  }

  // What is read from JSON may hold nulls, whatever its types say.
  @SuppressWarnings({"NullAway", "ConstantConditions"})
  private static boolean isWhole(PingAnswer pong) {
    return pong != null && pong.application() != null && pong.time() > 0;
  }

  /** By the header that most servers send; seconds, which is enough for what matters. */
  private static @Nullable Long byDate(Answered answer) {
    try {
      Instant date =
          ZonedDateTime.parse(
                  answer.headers().firstValue("Date").orElse(""),
                  DateTimeFormatter.RFC_1123_DATE_TIME)
              .toInstant();
      return Duration.between(answer.at(), date).toMillis();
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  private static Stream<Throwable> causes(Throwable thrown) {
    return Stream.iterate(thrown, Objects::nonNull, Throwable::getCause);
  }

  private static boolean says(Throwable thrown, String... texts) {
    return causes(thrown)
        .map(ProbeDiagnosis::describe)
        .anyMatch(message -> Stream.of(texts).anyMatch(message::contains));
  }

  private static String describe(Throwable thrown) {
    return thrown.getMessage() == null ? thrown.getClass().getSimpleName() : thrown.getMessage();
  }
}
