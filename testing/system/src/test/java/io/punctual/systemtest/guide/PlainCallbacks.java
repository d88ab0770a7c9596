package io.punctual.systemtest.guide;

import com.sun.net.httpserver.HttpServer;
import io.punctual.client.PunctualClient;
import io.punctual.client.callback.HttpServerCallback;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Executors;

/** The callback of the page about the client without Spring. */
final class PlainCallbacks {

  private PlainCallbacks() {}

  static HttpServer serve(PunctualClient client, String secret) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(8081), 0);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext(
        "/punctual/callback",
        new HttpServerCallback(client.callback(List.of(CallbackSignature.Key.parse(secret)))));
    server.start();
    client.register(URI.create("http://10.0.0.7:8081/punctual/callback"));
    return server;
  }
}
