package io.punctual.server.health;

import io.punctual.server.probe.Status;
import io.punctual.server.registry.RegistryContact;
import io.punctual.server.work.RepeatedTask;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Calls this scheduler at the address that the registry shows to applications, from time to time. A
 * scheduler that is registered at an address where nobody answers gets no submits, and says nothing
 * of it itself.
 */
@Component
class OwnAddress extends RepeatedTask {

  private static final Logger log = LoggerFactory.getLogger(OwnAddress.class);
  private static final Duration FIRST = Duration.ofSeconds(5);
  private static final Duration EVERY = Duration.ofSeconds(30);
  private static final Duration CONNECT = Duration.ofSeconds(1);
  private static final Duration ANSWER = Duration.ofSeconds(3);

  private final RegistryContact registry;
  private volatile @Nullable Finding finding;
  private int failures;

  OwnAddress(RegistryContact registry) {
    super("own-address", FIRST, EVERY);
    this.registry = registry;
  }

  /** What the last call showed; null if none was made, or this scheduler is not in the registry. */
  @Nullable Finding finding() {
    return finding;
  }

  /**
   * Makes the finding of a call.
   *
   * @param address as the registry has it
   * @param failure why this scheduler was not reached there; null if it was
   */
  static Finding finding(URI address, @Nullable String failure) {
    String shown = address.toString();
    return failure == null
        ? Finding.ok(Finding.Code.REGISTRATION, "reached", "address", shown)
        : Finding.of(
            Finding.Code.REGISTRATION,
            "unreached",
            Status.PROBLEM,
            "address",
            shown,
            "detail",
            failure);
  }

  @Override
  protected void turn() {
    URI address = registry.ownAddress();
    Finding now = address == null ? null : finding(address, failure(address));
    finding = now;
    if (now == null || now.severity() == Status.OK) {
      failures = 0;
    } else if (++failures == 2) {
      log.warn("{}. {}", now.text(), now.remedy());
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
