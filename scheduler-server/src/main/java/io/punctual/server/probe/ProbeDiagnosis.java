package io.punctual.server.probe;

import io.punctual.server.dispatch.callback.CallFailure;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.dispatch.callback.PingResult.Answered;
import io.punctual.server.dispatch.callback.PingResult.NoAnswer;
import io.punctual.server.dispatch.callback.PingResult.NotCalled;
import io.punctual.server.probe.ProbeResult.Code;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.text.Printable;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.PingAnswer;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.UriComponents;
import org.springframework.web.util.UriComponentsBuilder;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Says what is the matter, given what came of a ping. */
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

  private final InstantSource clock;

  ProbeDiagnosis(InstantSource clock) {
    this.clock = clock;
  }

  ProbeResult of(WorkerInstance instance, PingResult result) {
    return new Examination(instance).of(result);
  }

  /** One instance, whose address many answers need. */
  private final class Examination {

    private final WorkerInstance instance;
    private final URI url;
    private final String host;
    private @Nullable Long clockAhead;
    private @Nullable String version;

    Examination(WorkerInstance instance) {
      this.instance = instance;
      this.url = instance.callback();
      this.host = String.valueOf(url.getHost());
    }

    ProbeResult of(PingResult result) {
      return switch (result) {
        case NotCalled notCalled -> notCalled(notCalled.reason());
        case NoAnswer none -> noAnswer(none);
        case Answered answered -> answered(answered);
      };
    }

    private ProbeResult diagnosis(Code code, String message, @Nullable String remedy) {
      return new ProbeResult(
          code,
          Printable.of(message),
          url.toString(),
          remedy,
          clock.instant(),
          clockAhead,
          version);
    }

    private boolean isLoopback() {
      return host.startsWith("127.") || host.equals("localhost") || host.equals("[::1]");
    }

    /** How to register an address that can be reached. */
    private String address() {
      String remedy =
          "Set eureka.instance.hostname in the worker (or eureka.instance.ip-address with"
              + " eureka.instance.prefer-ip-address=true) to an address that the scheduler's"
              + " machine reaches; spring.cloud.inetutils.preferred-networks chooses among several"
              + " networks. Where schedulers cannot call in at all, set"
              + " punctual.client.delivery=pull.";
      return CONTAINER.matcher(host).matches()
          ? "This looks like the address of a container, which only its own network knows. Publish"
              + " its port, or put the scheduler into that network. "
              + remedy
          : remedy;
    }

    private String port() {
      return "eureka.instance.non-secure-port in the worker (eureka.instance.secure-port with TLS)"
          + " must be the port that others see, which is server.port unless a container or a proxy"
          + " publishes another one.";
    }

    private ProbeResult noAnswer(NoAnswer none) {
      if (none.speaksTls()) {
        return plainToTls("The registry says http, and the port speaks TLS");
      }
      return switch (none.failure()) {
        case TLS -> tls(none.cause() == null ? new SSLException("failed") : none.cause());
        case UNKNOWN_HOST ->
            diagnosis(
                Code.UNKNOWN_HOST,
                "The scheduler's machine knows no address of " + host,
                address());
        case ADDRESS_NOT_ALLOWED -> notCalled(none.failure().text());
        case TIMED_OUT ->
            diagnosis(
                Code.CONNECTION_TIMEOUT,
                "No connection to "
                    + authority()
                    + ", and no refusal either: another network, or a firewall between",
                address());
        case NO_ROUTE ->
            diagnosis(Code.NO_ROUTE, "There is no way from the scheduler to " + host, address());
        case REFUSED ->
            diagnosis(
                Code.CONNECTION_REFUSED,
                "No program listens at " + authority() + ": the connection was refused",
                "Is the worker up, and does server.address let others in? "
                    + port()
                    + " If the host is the wrong one: "
                    + address());
        case NO_ANSWER ->
            diagnosis(
                Code.NO_ANSWER,
                authority() + " took the connection and gave no answer within 5 s",
                "Does the worker hang (a thread dump tells), or is that another program's port? "
                    + port());
        // What came instead is not quoted: it may be the greeting of any service in reach.
        case NOT_HTTP, BROKE ->
            diagnosis(
                Code.NOT_HTTP,
                authority()
                    + (none.failure() == CallFailure.BROKE
                        ? " closed the connection without an answer"
                        : " did not answer in HTTP"),
                "Another program's port, or a proxy that breaks connections. " + port());
      };
    }

    private ProbeResult notCalled(String reason) {
      return diagnosis(
          Code.ADDRESS_NOT_ALLOWED,
          reason,
          isLoopback()
              ? "The worker registered an address of its own machine only. Set"
                  + " eureka.instance.hostname in the worker to an address that the scheduler"
                  + " reaches; if all of it is on one machine, list 127.0.0.0/8 in"
                  + " punctual.dispatch.allowed-networks at the scheduler."
              : "List the workers' network in punctual.dispatch.allowed-networks at the scheduler"
                  + " (10.0.0.0/8, for instance), or set eureka.instance.hostname in the worker to"
                  + " an address in one that is listed. Link-local addresses (169.254...) are never"
                  + " called.");
    }

    private ProbeResult plainToTls(String message) {
      return diagnosis(
          Code.PLAIN_TO_TLS_PORT,
          message,
          "Set eureka.instance.secure-port-enabled=true, eureka.instance.non-secure-port-enabled="
              + "false and eureka.instance.secure-port in the worker. The starter does so by itself"
              + " where the application has server.ssl.bundle or another certificate.");
    }

    private ProbeResult tls(Throwable cause) {
      if (says(cause, "Unsupported or unrecognized SSL message")
          || says(cause, "plaintext connection")) {
        return diagnosis(
            Code.TLS_TO_PLAIN_PORT,
            "The registry says https, and the port speaks plain HTTP",
            "Give the worker a certificate (server.ssl.bundle), or set"
                + " eureka.instance.secure-port-enabled=false and"
                + " eureka.instance.non-secure-port-enabled=true in it.");
      } else if (says(cause, "subject alternative") || says(cause, "No name matching")) {
        return diagnosis(
            Code.CERTIFICATE_OF_ANOTHER_NAME,
            "The certificate at " + authority() + " is not one of " + host + ": " + root(cause),
            "Set eureka.instance.hostname in the worker to a name that its certificate has, or give"
                + " it a certificate with this one.");
      } else if (has(cause, CertificateException.class) || says(cause, "PKIX")) {
        return diagnosis(
            Code.CERTIFICATE_NOT_TRUSTED,
            "The certificate at " + authority() + " is not trusted here: " + root(cause),
            "Name an SSL bundle with the authority that signed it in punctual.dispatch.ssl-bundle"
                + " at the scheduler (spring.ssl.bundle...truststore), or renew the certificate if"
                + " it has run out.");
      }
      return diagnosis(
          Code.TLS_FAILED,
          "TLS with " + authority() + " came to nothing: " + root(cause),
          "If the worker asks for a certificate of its callers, punctual.dispatch.ssl-bundle at the"
              + " scheduler needs a key that the worker trusts (spring.ssl.bundle...keystore); else"
              + " protocols and ciphers of both sides have nothing in common.");
    }

    private String authority() {
      return host + ":" + url.getPort();
    }

    private ProbeResult answered(Answered answer) {
      if (answer.speaksTls()) {
        return plainToTls("The registry says http, and the port answers that it wants TLS");
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
        return diagnosis(
            Code.UNAVAILABLE,
            "HTTP " + status + ": it takes no jobs now",
            "It is ending or overloaded, or a proxy finds no server behind it. Jobs go to other"
                + " instances meanwhile; if it stays so, look at the worker's log, and at what"
                + " stands in front of server.port.");
      } else if (status >= 500 && (isBatch() || status != 501)) {
        return diagnosis(
            Code.SERVER_ERROR,
            "HTTP " + status + " from the callback",
            "The worker's own log says what failed. Does a filter or error handler of the"
                + " application take "
                + url.getPath()
                + " (punctual.client.callback.path)?");
      }
      return isBatch() ? batch(answer) : single(answer);
    }

    private boolean isBatch() {
      return instance.metadata().protocol().equals(WorkerMetadata.BATCH);
    }

    private ProbeResult refused(CallbackRefusal refusal, Answered answer) {
      String said = Printable.of(answer.body().strip());
      String message = "HTTP " + answer.status() + (said.isEmpty() ? "" : ": " + said);
      return switch (refusal) {
        case OTHER_APPLICATION ->
            diagnosis(
                Code.OTHER_APPLICATION,
                message,
                "The address belongs to another application by now, or two applications register"
                    + " the same one: look at eureka.instance.hostname and"
                    + " eureka.instance.non-secure-port of both. If it is the right one,"
                    + " punctual.client.application there must be its name in the registry,"
                    + " spring.application.name.");
        case OTHER_INSTANCE ->
            diagnosis(
                Code.OTHER_APPLICATION,
                message,
                "The instance that answers there is registered with another id or address. If it was"
                    + " restarted with a new eureka.instance.instance-id, its old entry leaves the"
                    + " registry by itself. Otherwise look for two entries of one instance, and at"
                    + " eureka.instance.hostname and eureka.instance.non-secure-port of both.");
        case NO_KEY, NOT_THIS_MACHINE ->
            diagnosis(
                Code.WORKER_WITHOUT_KEY,
                message,
                "Set punctual.client.callback.secrets in the worker to what the scheduler's command"
                    + " 'credentials "
                    + instance.application()
                    + "' prints; or, on your own machine only,"
                    + " punctual.client.callback.accept-unsigned=true and"
                    + " eureka.instance.hostname=127.0.0.1.");
        case UNSIGNED ->
            diagnosis(
                Code.SCHEDULER_WITHOUT_KEY,
                message,
                "The worker has punctual.client.callback.secrets, and this scheduler signs nothing:"
                    + " set punctual.security.signing-keys at the scheduler, with the key of the"
                    + " other schedulers.");
        case WRONG_SIGNATURE ->
            diagnosis(
                Code.KEYS_DIFFER,
                message,
                "Set punctual.client.callback.secrets in the worker to what the scheduler's command"
                    + " 'credentials "
                    + instance.application()
                    + "' prints, and let all schedulers have the same"
                    + " punctual.security.signing-keys. If they are the same, a proxy changes the"
                    + " request's body.");
        case CLOCK, LATE -> {
          clockAhead = byDate(answer);
          yield diagnosis(
              Code.CLOCKS_APART,
              message,
              "Let both machines keep their time by NTP (chrony, systemd-timesyncd): signatures"
                  + " (punctual.security.signing-keys) are good for five minutes around the"
                  + " worker's time, whose clock may be 30 s ahead of the scheduler's.");
        }
        case REPEATED ->
            diagnosis(
                Code.NOT_A_CALLBACK,
                message,
                "Something between scheduler and worker sends requests twice: a proxy that retries"
                    + " POST must not do so for "
                    + url.getPath()
                    + " (punctual.client.callback.path).");
      };
    }

    private ProbeResult redirected(Answered answer) {
      String to = answer.headers().firstValue("Location").orElse("");
      String message =
          "HTTP " + answer.status() + " to " + origin(to) + "; redirects are not followed";
      if (LOGIN.matcher(to).matches()) {
        return login(message);
      }
      return diagnosis(
          Code.REDIRECTED,
          message,
          to.startsWith("https:") && "http".equals(url.getScheme())
              ? "Register the address that is meant: eureka.instance.secure-port-enabled=true and"
                  + " eureka.instance.secure-port in the worker."
              : "Register the address that is meant: eureka.instance.hostname and"
                  + " eureka.instance.non-secure-port, and punctual.callback-path in its metadata.");
    }

    /** Scheme and host of an address: the rest may hold what is nobody else's to know. */
    private String origin(String location) {
      UriComponents to;
      try {
        to = UriComponentsBuilder.fromUriString(location).build();
      } catch (IllegalArgumentException e) {
        return "an address that makes no sense";
      }
      if (to.getHost() == null) {
        return "another path of the same host";
      }
      return Printable.of(
          to.getScheme() == null ? to.getHost() : to.getScheme() + "://" + to.getHost());
    }

    private ProbeResult login(String message) {
      return diagnosis(
          Code.LOGIN_IN_FRONT,
          message,
          "A proxy, a gateway or the application's own security asks for a login. Let POST "
              + url.getPath()
              + " pass there (punctual.client.callback.path): the callback's signature says who is"
              + " calling. The starter tells the application's Spring Security so by itself; what"
              + " stands before that must let the path pass, too. Or another program has that port: "
              + port());
    }

    private ProbeResult batch(Answered answer) {
      int status = answer.status();
      String message = "HTTP " + status + " at " + url.getPath();
      if (status == 401 || status == 403 || status == 407) {
        return login(message);
      } else if (status == 404) {
        return wrongPath();
      } else if (status == 400 && answer.body().contains("Punctual scheduler")) {
        clockAhead = byDate(answer);
        return noPing("HTTP 400 to a ping: calls are let in, by a starter that knows no pings");
      } else if (status != 200) {
        return notCallback(message);
      } else if (answer.body().isBlank()) {
        clockAhead = byDate(answer);
        return noPing("HTTP 200 without a word to a ping: calls are let in");
      }
      return switch (answer.signature()) {
        case WRONG ->
            diagnosis(
                Code.ANSWER_OF_ANOTHER_KEY,
                "The answer is signed with another key than this application's",
                "Another program answers there, or punctual.client.callback.secrets in the worker are"
                    + " not what the scheduler's command 'credentials "
                    + instance.application()
                    + "' prints.");
        case MISSING ->
            parsed(answer) == null
                ? notCallback("HTTP 200, and nothing of ours in the answer")
                : diagnosis(
                    Code.ANSWER_NOT_SIGNED,
                    "The answer is not signed, so that nothing that it says of jobs would count",
                    "Who is it? Make sure that the instance is yours: an impostor in the registry"
                        + " answers like this, and is sent no jobs. If it is, set"
                        + " punctual.client.callback.secrets in the worker. Only where it cannot"
                        + " sign, and the network is trusted, name the application in"
                        + " punctual.security.unsigned-answers at the scheduler.");
        case RIGHT, NOT_WANTED -> ponged(answer);
      };
    }

    private ProbeResult ponged(Answered answer) {
      PingAnswer pong = parsed(answer);
      if (pong == null) {
        return notCallback("HTTP 200, and nothing of ours in the answer");
      } else if (!instance.application().equalsIgnoreCase(pong.application())) {
        return refused(CallbackRefusal.OTHER_APPLICATION, answer);
      }
      version = pong.version() == null ? null : Printable.of(pong.version());
      clockAhead = pong.time() - answer.at().toEpochMilli();
      return reached(
          answer.signature() == PingResult.Signature.RIGHT
              ? "A signed call got through, and its signed answer back"
              : "A call got through, and its answer back");
    }

    private ProbeResult reached(String message) {
      Long ahead = clockAhead;
      if (ahead != null && Math.abs(ahead) > CLOCKS.toMillis()) {
        return diagnosis(
            Code.CLOCK_OFF,
            message
                + "; but the clock there is "
                + Duration.ofMillis(Math.abs(ahead)).toSeconds()
                + " s "
                + (ahead > 0 ? "ahead of" : "behind")
                + " the scheduler's",
            "Let both machines keep their time by NTP (chrony, systemd-timesyncd): a worker lets no"
                + " signed call (punctual.security.signing-keys) in if its clock is more than 30 s"
                + " ahead of the scheduler's, or five minutes behind.");
      }
      return diagnosis(Code.REACHED, message, null);
    }

    private ProbeResult single(Answered answer) {
      int status = answer.status();
      clockAhead = byDate(answer);
      if ((status == 401 || status == 403)
          && answer.headers().firstValue("WWW-Authenticate").isPresent()) {
        return login("HTTP " + status + " with WWW-Authenticate, to OPTIONS " + url.getPath());
      }
      boolean takesPost =
          answer.headers().allValues("Allow").stream()
              .anyMatch(allow -> allow.toUpperCase(Locale.ROOT).contains("POST"));
      if (takesPost || (status >= 200 && status < 300)) {
        return reached("OPTIONS is answered by HTTP " + status + ", at a path that takes POST");
      }
      ProbeResult reached = reached("OPTIONS is answered by HTTP " + status);
      return reached.code() == Code.REACHED
          ? diagnosis(
              Code.UNPROVEN,
              reached.message()
                  + ": a worker is there; path and key are proven by the first job, since a worker"
                  + " of the single protocol is sent nothing else",
              status == 404
                  ? "If jobs fail with HTTP 404, punctual.callback-path in the worker's metadata is"
                      + " not the path that it serves. Answer OPTIONS with 204 and Allow: POST, and"
                      + " this will be seen here."
                  : null)
          : reached;
    }

    private ProbeResult noPing(String message) {
      ProbeResult reached = reached(message);
      return reached.code() == Code.REACHED
          ? diagnosis(
              Code.NO_PING,
              message,
              "Jobs are delivered. With the scheduler's own version of scheduler-client-starter, the"
                  + " answer's signature and the clock can be seen here, too.")
          : reached;
    }

    private ProbeResult wrongPath() {
      return diagnosis(
          Code.WRONG_PATH,
          "HTTP 404: there is nothing at " + url.getPath(),
          "The path is what the worker says in its metadata (punctual.callback-path), which the"
              + " starter makes of server.servlet.context-path, spring.mvc.servlet.path and"
              + " punctual.client.callback.path: these must be the ones that are served, and no"
              + " proxy may change them. Or another program has that port: "
              + port());
    }

    private ProbeResult notCallback(String message) {
      return diagnosis(
          Code.NOT_A_CALLBACK,
          message + ": that is no worker's callback",
          "Something else answers at this path: a proxy, a page for everything, or another program."
              + " punctual.callback-path in the worker's metadata must be where it takes jobs"
              + " (punctual.client.callback.path below server.servlet.context-path). "
              + port());
    }

    private @Nullable PingAnswer parsed(Answered answer) {
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
  }

  private static boolean has(Throwable thrown, Class<? extends Throwable> type) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (type.isInstance(t)) {
        return true;
      }
    }
    return false;
  }

  private static boolean says(Throwable thrown, String text) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t.getMessage() != null && t.getMessage().contains(text)) {
        return true;
      }
    }
    return false;
  }

  private static String root(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return describe(root);
  }

  private static String describe(Throwable thrown) {
    return thrown.getMessage() == null ? thrown.getClass().getSimpleName() : thrown.getMessage();
  }
}
