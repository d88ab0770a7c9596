package io.punctual.client.callback;

import io.punctual.Limits;
import io.punctual.client.ClientIdentity;
import io.punctual.client.lease.JobLease;
import io.punctual.client.lease.RemoteLease;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.PingAnswer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.HttpRequestHandler;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Takes jobs from schedulers. A plain handler, no controller: what an application does to the
 * answers of its controllers (wrapping, versioning, interceptors) does not touch it.
 */
public final class CallbackHandler implements HttpRequestHandler {

  private static final String RESULTS = "application/x-ndjson";
  private static final String RETRY_AFTER_SECONDS = "2";
  private static final @Nullable String VERSION =
      CallbackHandler.class.getPackage().getImplementationVersion();

  private final ClientIdentity identity;
  private final JobRunner runner;
  private final SchedulerCalls calls;
  private final CallbackGuard guard;
  private final CallbackBodies bodies;
  private final Supplier<@Nullable AdvertisedCallback> advertised;
  // Our own, so that the application's settings do not change what goes over the wire.
  private final JsonMapper json = JsonMapper.builder().build();

  /**
   * @param calls by which jobs that run ask for something
   * @param maxBody most bytes of a request
   * @param advertised what the registry says of this instance; null if it does not say
   */
  public CallbackHandler(
      ClientIdentity identity,
      JobRunner runner,
      SchedulerCalls calls,
      CallbackGuard guard,
      long maxBody,
      Supplier<@Nullable AdvertisedCallback> advertised) {
    this(identity, runner, calls, guard, CallbackBodies.ofHeap(maxBody), advertised);
  }

  CallbackHandler(
      ClientIdentity identity,
      JobRunner runner,
      SchedulerCalls calls,
      CallbackGuard guard,
      CallbackBodies bodies,
      Supplier<@Nullable AdvertisedCallback> advertised) {
    this.identity = identity;
    this.calls = calls;
    this.guard = guard;
    this.runner = runner;
    this.bodies = bodies;
    this.advertised = advertised;
  }

  @Override
  public void handleRequest(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!request.getMethod().equals("POST")) {
      response.setHeader("Allow", "POST");
      refuseUnread(request, response, 405, "this path takes POST from Punctual schedulers only");
      return;
    }
    String meant = request.getHeader(CallbackRequest.APPLICATION);
    if (meant != null && !meant.equals(identity.application())) {
      // Its key is another one: that it is not for us is the better reason.
      response.setHeader(CallbackRefusal.HEADER, CallbackRefusal.OTHER_APPLICATION.word());
      refuseUnread(request, response, 421, otherApplication());
      return;
    }
    CallbackGuard.Refusal refusal = guard.refusal(request);
    if (refusal != null) {
      response.setHeader(CallbackRefusal.HEADER, refusal.why().word());
      refuseUnread(request, response, refusal.status(), refusal.text());
      return;
    }
    try (CallbackBodies.Place place = bodies.open()) {
      take(place.read(request), request, response);
    } catch (CallbackBodies.NotReadException e) {
      if (e.status() == 503) {
        // Whoever schedules knows by this that nothing was run: it costs no attempt.
        response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
      }
      if (e.dropped()) {
        refuse(response, e.status(), e.text());
      } else {
        refuseUnread(request, response, e.status(), e.text());
      }
    }
  }

  private void take(byte[] body, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    CallbackGuard.Refusal refusal = guard.refusal(request, body);
    if (refusal != null) {
      response.setHeader(CallbackRefusal.HEADER, refusal.why().word());
      refuse(response, refusal.status(), refusal.text());
      return;
    }
    if (!runner.takesJobs()) {
      // Not before the body was read: closing on it would look like a lost answer. The scheduler
      // leaves this instance alone now, and takes the jobs to another one at once.
      response.setHeader("Connection", "close");
      refuse(response, 503, "this instance is shutting down");
      return;
    }
    CallbackRequest callback;
    try {
      callback = json.readValue(body, CallbackRequest.class);
      check(callback);
    } catch (JacksonException | IllegalArgumentException e) {
      refuse(response, 400, "the body is not a callback of a Punctual scheduler");
      return;
    }
    if (!callback.application().equals(identity.application())) {
      refuseOthers(response);
      return;
    }
    AdvertisedCallback own = advertised.get();
    if (own != null && isForAnother(callback, own)) {
      response.setHeader(CallbackRefusal.HEADER, CallbackRefusal.OTHER_INSTANCE.word());
      refuse(
          response,
          421,
          "this is instance "
              + own.instance()
              + " at "
              + own.address()
              + ", and the call is for "
              + callback.instance()
              + (callback.address() == null ? "" : " at " + callback.address()));
      return;
    }
    if (callback.jobs().isEmpty()) {
      answerPing(request, response);
    } else {
      run(callback, request, response);
    }
  }

  /** Whether the call went to another instance, from where it was passed on. */
  private static boolean isForAnother(CallbackRequest callback, AdvertisedCallback own) {
    if (callback.instance() != null && !callback.instance().equals(own.instance())) {
      return true;
    }
    URI address = own.address();
    // Without a host in the URI (an IPv6 address without brackets) nothing can be compared.
    if (address.getHost() == null || callback.address() == null) {
      return false;
    }
    URI called = URI.create(callback.address());
    return called.getPort() != address.getPort()
        || !String.valueOf(called.getHost()).equalsIgnoreCase(address.getHost());
  }

  private void answerPing(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    PingAnswer answer = new PingAnswer(identity.application(), guard.now().toEpochMilli(), VERSION);
    String line = json.writeValueAsString(answer) + "\n";
    CallbackGuard.AnswerSeal seal = guard.seal(request);
    response.setStatus(200);
    response.setContentType(RESULTS);
    response
        .getOutputStream()
        .write(
            (seal == null ? line : line + seal.line(line) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private void refuseOthers(HttpServletResponse response) throws IOException {
    response.setHeader(CallbackRefusal.HEADER, CallbackRefusal.OTHER_APPLICATION.word());
    refuse(response, 421, otherApplication());
  }

  private String otherApplication() {
    return "this is " + identity.application() + "; the jobs are for another application";
  }

  private void run(
      CallbackRequest callback, HttpServletRequest request, HttpServletResponse response) {
    response.setStatus(200);
    response.setContentType(RESULTS);
    AsyncContext context = request.startAsync(request, response);
    // Each job ends by its time-to-run; the container's own limit would cut the slow ones off.
    context.setTimeout(0);
    ResultStream results =
        new ResultStream(
            context, json, guard.seal(request), runner.writer(), callback.jobs().size());
    for (CallbackRequest.Job job : callback.jobs()) {
      JobLease lease =
          new RemoteLease(
              calls,
              job.token(),
              // The scheduler keeps it alive; this tells whether it is ours.
              Limits.MIN_TIME_TO_RUN,
              more ->
                  results.write(
                      CallbackResult.extended(job.taskId(), job.incarnation(), more.toMillis())));
      var unused = runner.run(job, lease).thenAccept(results::write);
    }
  }

  // Records read from JSON may hold nulls, whatever their types say.
  @SuppressWarnings({"NullAway", "ConstantConditions"})
  private static void check(CallbackRequest callback) {
    if (callback == null || callback.application() == null || callback.jobs() == null) {
      throw new IllegalArgumentException("incomplete");
    }
    if (callback.address() != null && URI.create(callback.address()).getHost() == null) {
      throw new IllegalArgumentException("no address");
    }
    for (CallbackRequest.Job job : callback.jobs()) {
      if (job == null
          || job.taskId() == null
          || job.taskType() == null
          || job.incarnation() == null
          || job.params() == null
          || job.attempt() < 1
          || job.timeToRun() < 1) {
        throw new IllegalArgumentException("incomplete");
      }
    }
  }

  /** Answers before the body is read, and then lets the rest of it come to nothing. */
  private void refuseUnread(
      HttpServletRequest request, HttpServletResponse response, int status, String reason)
      throws IOException {
    // Clients that are still sending shall not take the connection for the next call. Without a
    // length: Tomcat reads nothing more once an answer is whole.
    response.setHeader("Connection", "close");
    refuse(response, status, reason);
    response.flushBuffer();
    bodies.throwAway(request);
  }

  private static void refuse(HttpServletResponse response, int status, String reason)
      throws IOException {
    response.setStatus(status);
    response.setContentType(MediaType.TEXT_PLAIN_VALUE);
    response.getOutputStream().write(reason.getBytes(StandardCharsets.UTF_8));
  }
}
