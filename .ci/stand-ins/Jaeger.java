import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/**
 * Stands in for Jaeger's image where that cannot be had: takes spans as protobuf by OTLP over HTTP, and answers what
 * deploy/scripts/compose-check.sh and the container's health check ask Jaeger, in its form.
 */
public final class Jaeger {

  record Span(String trace, String id, String parent, String name, String service, String instance) {}

  private static final List<Span> SPANS = new CopyOnWriteArrayList<>();

  public static void main(String[] args) throws IOException {
    listen(4318, "/v1/traces", Jaeger::take);
    listen(16686, "/api/traces", Jaeger::find);
    listen(13133, "/status", exchange -> answer(exchange, "{\"status\":\"StatusOK\"}"));
  }

  interface Handler {
    void handle(HttpExchange exchange) throws IOException;
  }

  private static void listen(int port, String path, Handler handler) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        path,
        exchange -> {
          try (exchange) {
            handler.handle(exchange);
          } catch (IOException | RuntimeException e) {
            e.printStackTrace();
          }
        });
    server.start();
  }

  private static void answer(HttpExchange exchange, String json) throws IOException {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
  }

  // --- what comes in: fields by number, as in opentelemetry/proto/trace/v1/trace.proto ---

  private static void take(HttpExchange exchange) throws IOException {
    parts(ByteBuffer.wrap(exchange.getRequestBody().readAllBytes()), Map.of(1, Jaeger::resourceSpans));
    exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
    exchange.sendResponseHeaders(200, -1);
  }

  private static void resourceSpans(ByteBuffer bytes) {
    var attributes = new java.util.HashMap<String, String>();
    parts(bytes.duplicate(), Map.of(1, resource -> parts(resource, Map.of(1, one -> attribute(one, attributes)))));
    parts(bytes, Map.of(2, scope -> parts(scope, Map.of(2, one -> span(one, attributes)))));
  }

  private static void attribute(ByteBuffer bytes, Map<String, String> attributes) {
    var key = new StringBuilder();
    var value = new StringBuilder();
    parts(
        bytes,
        Map.of(1, name -> key.append(text(name)), 2, any -> parts(any, Map.of(1, string -> value.append(text(string))))));
    attributes.put(key.toString(), value.toString());
  }

  private static void span(ByteBuffer bytes, Map<String, String> of) {
    String[] found = {"", "", "", ""};
    parts(
        bytes,
        Map.of(
            1, part -> found[0] = hex(part),
            2, part -> found[1] = hex(part),
            4, part -> found[2] = hex(part),
            5, part -> found[3] = text(part)));
    SPANS.add(
        new Span(
            found[0], found[1], found[2], found[3], of.get("service.name"), of.getOrDefault("service.instance.id", "")));
  }

  interface Part extends java.util.function.Consumer<ByteBuffer> {}

  /** Gives the parts of a message that have a length to who wants the field. */
  private static void parts(ByteBuffer message, Map<Integer, Part> fields) {
    message.order(ByteOrder.LITTLE_ENDIAN);
    while (message.hasRemaining()) {
      long tag = varint(message);
      switch ((int) (tag & 7)) {
        case 0 -> varint(message);
        case 1 -> message.getLong();
        case 5 -> message.getInt();
        case 2 -> {
          int length = Math.toIntExact(varint(message));
          ByteBuffer part = message.slice(message.position(), length);
          message.position(message.position() + length);
          fields.getOrDefault((int) (tag >>> 3), ignored -> {}).accept(part);
        }
        default -> throw new IllegalArgumentException("no such wire type: " + tag);
      }
    }
  }

  private static long varint(ByteBuffer bytes) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = bytes.get();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  private static String text(ByteBuffer bytes) {
    return StandardCharsets.UTF_8.decode(bytes).toString();
  }

  private static String hex(ByteBuffer bytes) {
    byte[] all = new byte[bytes.remaining()];
    bytes.get(all);
    return HexFormat.of().formatHex(all);
  }

  // --- what is asked: traces with a span of that operation ---

  private static void find(HttpExchange exchange) throws IOException {
    Map<String, String> wanted =
        java.util.Arrays.stream(exchange.getRequestURI().getRawQuery().split("&"))
            .map(pair -> pair.split("=", 2))
            .collect(Collectors.toMap(pair -> pair[0], pair -> URLDecoder.decode(pair[1], StandardCharsets.UTF_8)));
    List<String> traces =
        SPANS.stream()
            .filter(span -> wanted.get("service").equals(span.service()) && wanted.get("operation").equals(span.name()))
            .map(Span::trace)
            .distinct()
            .toList();
    answer(exchange, traces.stream().map(Jaeger::trace).collect(Collectors.joining(",", "{\"data\":[", "]}")));
  }

  private static String trace(String id) {
    List<Span> spans = SPANS.stream().filter(span -> span.trace().equals(id)).toList();
    String processes =
        spans.stream()
            .map(
                span ->
                    "\"p%s\":{\"serviceName\":\"%s\",\"tags\":[{\"key\":\"service.instance.id\",\"type\":\"string\",\"value\":\"%s\"}]}"
                        .formatted(span.id(), span.service(), span.instance()))
            .collect(Collectors.joining(","));
    String all =
        spans.stream()
            .map(
                span ->
                    "{\"traceID\":\"%s\",\"spanID\":\"%s\",\"operationName\":\"%s\",\"references\":[%s],\"processID\":\"p%s\"}"
                        .formatted(
                            id,
                            span.id(),
                            span.name(),
                            span.parent().isEmpty()
                                ? ""
                                : "{\"refType\":\"CHILD_OF\",\"traceID\":\"%s\",\"spanID\":\"%s\"}"
                                    .formatted(id, span.parent()),
                            span.id()))
            .collect(Collectors.joining(","));
    return "{\"traceID\":\"%s\",\"spans\":[%s],\"processes\":{%s}}".formatted(id, all, processes);
  }
}
