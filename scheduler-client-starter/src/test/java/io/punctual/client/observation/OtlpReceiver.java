package io.punctual.client.observation;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Takes spans as a collector does: OTLP over HTTP, protobuf. */
final class OtlpReceiver implements AutoCloseable {

  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final HttpServer server;

  OtlpReceiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/traces",
        exchange -> {
          boolean packed = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
          byte[] body =
              packed
                  ? new GZIPInputStream(exchange.getRequestBody()).readAllBytes()
                  : exchange.getRequestBody().readAllBytes();
          ExportTraceServiceRequest.parseFrom(body).getResourceSpansList().stream()
              .flatMap(resource -> resource.getScopeSpansList().stream())
              .forEach(scope -> spans.addAll(scope.getSpansList()));
          exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
  }

  List<Span> spans() {
    return List.copyOf(spans);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
