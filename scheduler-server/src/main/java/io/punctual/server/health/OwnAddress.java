package io.punctual.server.health;

import io.punctual.server.probe.Status;
import io.punctual.server.registry.RegistryContact;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Calls this scheduler at the address that the registry shows to applications, from time to time. A
 * scheduler that is registered at an address where nobody answers gets no submits, and says nothing
 * of it itself.
 */
@Component
class OwnAddress implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(OwnAddress.class);
  private static final Duration FIRST = Duration.ofSeconds(5);
  private static final Duration EVERY = Duration.ofSeconds(30);
  private static final Duration CONNECT = Duration.ofSeconds(1);
  private static final Duration ANSWER = Duration.ofSeconds(3);
  private static final String REMEDY =
      "Set eureka.instance.hostname of the scheduler to a name or an address that applications"
          + " reach, and server.address so that it listens there.";

  private final RegistryContact registry;
  private volatile @Nullable Seen seen;
  private volatile @Nullable ScheduledExecutorService rounds;
  private int failures;

  OwnAddress(RegistryContact registry) {
    this.registry = registry;
  }

  /**
   * What the last call showed.
   *
   * @param address as the registry has it
   * @param failure why this scheduler was not reached there; null if it was
   */
  record Seen(URI address, @Nullable String failure) {

    /** Returns what it means. */
    Finding finding() {
      return failure == null
          ? new Finding(
              Finding.Code.REGISTRATION,
              Status.OK,
              Finding.Subject.ALL,
              "The registry shows this scheduler at " + address + ", where it is reached",
              null)
          : new Finding(
              Finding.Code.REGISTRATION,
              Status.PROBLEM,
              Finding.Subject.ALL,
              "The registry shows this scheduler at " + address + ", and there " + failure,
              REMEDY);
    }
  }

  /** What the last call showed; null if none was made, or this scheduler is not in the registry. */
  @Nullable Seen seen() {
    return seen;
  }

  @Override
  public void start() {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("own-address").factory());
    var unused =
        started.scheduleWithFixedDelay(
            this::look, FIRST.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
    rounds = started;
  }

  @Override
  public void stop() {
    ScheduledExecutorService started = rounds;
    rounds = null;
    if (started != null) {
      started.shutdownNow();
    }
  }

  @Override
  public boolean isRunning() {
    return rounds != null;
  }

  private void look() {
    try {
      URI address = registry.showsUs() ? registry.ownAddress() : null;
      Seen now = address == null ? null : new Seen(address, failure(address));
      seen = now;
      if (now == null || now.failure() == null) {
        failures = 0;
      } else if (++failures == 2) {
        log.warn("{}. {}", now.finding().text(), REMEDY);
      }
    } catch (Throwable e) {
      // Also an Error: a round that ends with one would be the last.
      log.debug("This scheduler's own address could not be looked at", e);
    }
  }

  /** Returns why no scheduler is reached at an address; null if one is. */
  static @Nullable String failure(URI address) {
    try {
      if (address.getScheme().equals("https")) {
        // What certificate callers want to see, only they know.
        try (Socket socket = new Socket()) {
          socket.connect(
              new InetSocketAddress(address.getHost(), address.getPort()),
              (int) CONNECT.toMillis());
        }
        return null;
      }
      try (HttpClient http = HttpClient.newBuilder().connectTimeout(CONNECT).build()) {
        int status =
            http.send(
                    HttpRequest.newBuilder(address.resolve("/api/v1/openapi.yaml"))
                        .timeout(ANSWER)
                        .build(),
                    HttpResponse.BodyHandlers.discarding())
                .statusCode();
        return status == 200 ? null : "something else answers, with HTTP " + status;
      }
    } catch (HttpTimeoutException | SocketTimeoutException e) {
      return "no answer comes in time";
    } catch (UnknownHostException e) {
      return "is no host of that name";
    } catch (ConnectException e) {
      return isUnresolved(e) ? "is no host of that name" : "the connection is refused";
    } catch (IOException e) {
      return "the connection breaks";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  // The client wraps it, more than once.
  private static boolean isUnresolved(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException) {
        return true;
      }
    }
    return false;
  }
}
