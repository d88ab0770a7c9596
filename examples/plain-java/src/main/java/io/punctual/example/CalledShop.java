package io.punctual.example;

import com.sun.net.httpserver.HttpServer;
import io.punctual.DelayQueueJob;
import io.punctual.client.PunctualClient;
import io.punctual.client.callback.HttpServerCallback;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Takes an order that closes by itself: a scheduler calls this program, by the JDK's web server.
 */
public final class CalledShop {

  /**
   * Runs until the order is closed. The environment variable {@code PUNCTUAL_CALLBACK_SECRET} is
   * the key that the scheduler's command {@code credentials called-shop} prints; {@code
   * PUNCTUAL_TOKEN} is its token, where the scheduler asks for one.
   *
   * @param arguments the address of a scheduler, and the one where schedulers reach this program,
   *     such as {@code http://localhost:8080 http://10.0.0.7:8081/punctual/callback}
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    URI address = URI.create(arguments[1]);
    String secret =
        Objects.requireNonNull(
            System.getenv("PUNCTUAL_CALLBACK_SECRET"), "PUNCTUAL_CALLBACK_SECRET is not set");
    CountDownLatch closed = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    HttpServer server = HttpServer.create(new InetSocketAddress(address.getPort()), 0);
    PunctualClient.Builder builder =
        PunctualClient.of("called-shop")
            .schedulers(List.of(URI.create(arguments[0])))
            .worker(new PlainShop.CloseOrder(closed));
    String token = System.getenv("PUNCTUAL_TOKEN");
    if (token != null) {
      builder.token(token);
    }
    try (PunctualClient client = builder.build()) {
      server.setExecutor(threads);
      server.createContext(
          address.getPath(),
          new HttpServerCallback(client.callback(List.of(CallbackSignature.Key.parse(secret)))));
      server.start();
      client.register(address);

      client
          .scheduler()
          .submit(
              DelayQueueJob.of("order.close").params("1001").delay(Duration.ofSeconds(2)).build());
      closed.await();
    } finally {
      server.stop(0);
      threads.shutdownNow();
    }
  }

  private CalledShop() {}
}
