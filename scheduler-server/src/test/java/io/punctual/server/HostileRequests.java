package io.punctual.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.punctual.server.BadInputs.Bad;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/** More bodies of a submit that must be refused, and requests that no client library would send. */
final class HostileRequests {

  /** Stands in everything that tries to begin a line of its own in the log. */
  static final String FORGED = "FORGED";

  private static final Set<Integer> REFUSED =
      Set.of(400, 404, 405, 411, 412, 413, 414, 415, 417, 431);

  /**
   * A request as bytes.
   *
   * @param statuses that may be answered
   * @param mayBeSilent whether the server may close without an answer
   * @param problem whether the request gets as far as to be answered with a problem document
   */
  record Raw(
      String name, byte[] bytes, Set<Integer> statuses, boolean mayBeSilent, boolean problem) {

    @Override
    public String toString() {
      return name;
    }
  }

  private final Stream.Builder<Raw> raw = Stream.builder();
  private final Stream.Builder<Bad> bodies = Stream.builder();

  private HostileRequests() {}

  static Stream<Raw> raw() {
    HostileRequests requests = new HostileRequests();
    requests.boundaries();
    requests.heads();
    requests.hosts();
    requests.paths();
    requests.methods();
    requests.otherProtocols();
    requests.stalls();
    return requests.raw.build();
  }

  static Stream<Bad> bodies() {
    HostileRequests requests = new HostileRequests();
    requests.bombs();
    requests.characters();
    return requests.bodies.build();
  }

  private void bombs() {
    StringBuilder fields = new StringBuilder("{");
    for (int i = 0; i < 100_000; i++) {
      fields.append(i == 0 ? "" : ",").append('"').append(Integer.toString(i, 36)).append("\":1");
    }
    body("100,000 fields", fields.append('}').toString(), "body");
    body("500,000 elements", job(",\"tags\":[" + "1,".repeat(490_000) + "1]"), "body");
    body("100,000 empty objects", job(",\"tags\":[" + "{},".repeat(300_000) + "{}]"), "body");
    body("arrays that never end", "[".repeat(1_000_000), "body");
    body("objects that never end", "{\"a\":".repeat(170_000), "body");
    body("a megabyte of blanks", " ".repeat(1_000_000), "body");
    body("a megabyte of nothing", "\\u0000".repeat(170_000), "body");
    body("a megabyte of escapes", job(",\"params\":\"" + "\\u0041".repeat(170_000)), "body");
    body("a name of 900,000 characters", job(",\"" + "n".repeat(900_000) + "\":1"), "body");
    body("the same key often", "{" + "\"a\":1,".repeat(100_000) + "\"a\":1}", "body");
    body("a number with a huge exponent", job("").replace("\"1h\"", "1e2147483647"), "delay");
    body(
        "a number of a million fractions",
        job("").replace("\"1h\"", "0." + "1".repeat(900_000)),
        "body");
    body("minus nothing", job("").replace("\"1h\"", "-"), "body");
    body("an octal number", job("").replace("\"1h\"", "0777"), "body");
    body("a hexadecimal number", job("").replace("\"1h\"", "0x1F"), "body");
    body("a trailing comma", job("").replace("}", ",}"), "body");
    body("a literal in capitals", job("").replace("\"1h\"", "TRUE"), "body");
    body("a raw line break in a text", job(",\"taskId\":\"a\n" + FORGED + "\""), "body");
    body("a raw NUL in a text", job(",\"taskId\":\"a\u0000b\""), "body");
    body("an escape that is none", job(",\"taskId\":\"\\x41\""), "body");
    body("half an escape", job(",\"taskId\":\"\\u12\""), "body");
    body("a prototype", job(",\"__proto__\":{\"admin\":true}"), "__proto__");
    body("a class", job(",\"@class\":\"java.lang.Runtime\""), "@class");
    body("a key in another's script", job(",\"d\u0435lay\":1"), "d?lay");
    bytes("an overlong slash", 0xC0, 0xAF);
    bytes("an overlong quote", 0xE0, 0x80, 0xA2);
    bytes("a surrogate in UTF-8", 0xED, 0xA0, 0x80);
    bytes("a pair of surrogates in UTF-8", 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80);
    bytes("beyond Unicode", 0xF4, 0x90, 0x80, 0x80);
    bytes("five bytes", 0xF8, 0x88, 0x80, 0x80, 0x80);
    bytes("a byte that never is", 0xFF);
    bytes("a tail without a head", 0x80);
    bytes("a head without a tail", 0xE2, 0x82);
  }

  // Each of them in each text that becomes a name, a header or a setting.
  private void characters() {
    String[] characters = {
      "\\u0000", "\\u0007", "\\u001b[31m", "\\u007f", "\\u0085", "\\u00a0", "\\u00ad", "\\u061c",
      "\\u200b", "\\u200e", "\\u202a", "\\u202e", "\\u2028", "\\u2066", "\\ufeff", "\\uffff",
      "\\ud83d\\ude00", "\\udfff", "\\r\\n" + FORGED, "\\n" + FORGED, "\\u2029" + FORGED
    };
    for (String c : characters) {
      body("taskId " + c, job(",\"taskId\":\"a" + c + "\""), "taskId");
      body("application " + c, job("").replace("shop", "s" + c), "application");
      body("taskType " + c, job("").replace("order.close", "s" + c), "taskType");
      body("tag " + c, job(",\"tags\":[\"a" + c + "\"]"), "tags");
      body("header " + c, job(",\"headers\":{\"a\":\"" + c + "\"}"), "headers.a");
      body("retry " + c, job(",\"retry\":\"1s" + c + "\""), "retry");
      body("delay " + c, job("").replace("1h", "1h" + c), "delay");
      body("timeToRun " + c, job(",\"timeToRun\":\"9s" + c + "\""), "timeToRun");
    }
    for (String text :
        new String[] {
          "${jndi:ldap://x/a}",
          "#{T(java.lang.Runtime)}",
          "{{7*7}}",
          "%{1+1}",
          "<%= 1 %>",
          "]]..redis.call('FLUSHALL')..[[",
          "'; return redis.call('FLUSHALL') --",
          "$(reboot)",
          "`reboot`",
          "|reboot",
          "a\\\\b",
          "javascript:alert(1)//",
          "file:///etc/passwd"
        }) {
      body("taskId " + text, job(",\"taskId\":\"" + text + "\""), "taskId");
      body("application " + text, job("").replace("shop", text), "application");
    }
  }

  private void boundaries() {
    String smuggled = "GET /api/v1/store HTTP/1.1\r\nHost: localhost\r\n\r\n";
    String json = "Content-Type: application/json";
    String chunked = "Transfer-Encoding: chunked";
    String post = "POST /api/v1/jobs";
    refused("a length that is too short", post, "{}xxx" + smuggled, json, "Content-Length: 2");
    refused("both lengths", post, "0\r\n\r\n" + smuggled, json, "Content-Length: 6", chunked);
    refused(
        "both lengths, chunked first",
        post,
        "0\r\n\r\n" + smuggled,
        chunked,
        json,
        "Content-Length: 6");
    refused("two lengths", post, "{}" + smuggled, json, "Content-Length: 2", "Content-Length: 50");
    refused("the same length twice", post, "{}", json, "Content-Length: 2", "Content-Length: 2");
    refused("two lengths in one", post, "{}", json, "Content-Length: 2, 3");
    for (String length :
        new String[] {
          "-1", "+2", "0x2", "2 2", "two", "", "99999999999999999999", "2;", "\u00b2"
        }) {
      refused("the length '" + length + "'", post, "{}", json, "Content-Length: " + length);
    }
    for (String coding :
        new String[] {
          "chunked, gzip",
          "gzip, chunked",
          "identity, chunked",
          "xchunked",
          "chunked, chunked",
          "\"chunked\"",
          "chunked;q=1"
        }) {
      raw(
          "the coding " + coding,
          request(post, "0\r\n\r\n" + smuggled, json, "Transfer-Encoding: " + coding),
          false,
          400,
          501);
    }
    raw(
        "a coding behind a tab",
        request(post, "0\r\n\r\n" + smuggled, json, "Transfer-Encoding:\tchunked"),
        false,
        400);
    refused(
        "a blank before the colon",
        post,
        "0\r\n\r\n" + smuggled,
        json,
        "Transfer-Encoding : chunked");
    for (String chunk :
        new String[] {
          "zz\r\n{}\r\n0\r\n\r\n",
          "-1\r\n{}\r\n0\r\n\r\n",
          "FFFFFFFFFFFFFFFFF\r\n",
          "2\r\n{}xx\r\n0\r\n\r\n",
          "2;" + "e".repeat(100_000) + "\r\n{}\r\n0\r\n\r\n",
          "2\n{}\n0\n\n",
          "0x2\r\n{}\r\n0\r\n\r\n",
          "\r\n",
          "2 \r\n{}\r\n0\r\n\r\n"
        }) {
      String shown =
          (chunk.length() > 40 ? chunk.length() + " characters" : chunk)
              .replace("\r", "\\r")
              .replace("\n", "\\n");
      raw("the chunks " + shown, request(post, chunk + smuggled, json, chunked), true, 400, 413);
    }
    refused(
        "trailers without end",
        post,
        "2\r\n{}\r\n0\r\n" + "a: b\r\n".repeat(20_000) + "\r\n",
        json,
        chunked);
    refused("gzip that is said so", post, gzip(1_000), json, "Content-Encoding: gzip");
    refused("a bomb of gzip", post, gzip(100_000_000), json, "Content-Encoding: gzip");
    refused("gzip that is not said so", post, gzip(1_000), json);
    refused("an unknown encoding", post, "{}", json, "Content-Encoding: br, x-nothing");
    refused(
        "a form",
        post,
        "application=shop&taskType=a&delay=1",
        "Content-Type: application/x-www-form-urlencoded");
    refused(
        "a part", post, "--x\r\n\r\n{}\r\n--x--", "Content-Type: multipart/form-data; boundary=x");
    refused(
        "a content type in another's script", post, "{}", "Content-Type: applic\u0430tion/json");
    refused("two content types", post, "{}", json, "Content-Type: text/plain");
    refused("a content type with everything", post, "{}", "Content-Type: */*");
  }

  private void heads() {
    String get = "GET /api/v1/queues/none/none";
    refused("NUL in a header", get, "", "X-A: a\u0000b");
    refused("a lone CR in a header", get, "", "X-A: a\r" + FORGED);
    refused("a name with a blank", get, "", "X A: b");
    refused("a header without a colon", get, "", FORGED);
    refused("a header without a name", get, "", ": b");
    refused("a folded header", get, "", "X-A: a\r\n " + FORGED);
    refused("a folded first header", get, "", " X-A: a");
    refused("control characters in a header", get, "", "X-A: \u001b[31m\u0007");
    refused("a header of 100 kB", get, "", "X-A: " + "a".repeat(100_000));
    refused("a name of 100 kB", get, "", "a".repeat(100_000) + ": b");
    refused("10,000 headers", get, "", "a: b\r\n".repeat(9_999) + "a: b");
    refused("500 headers", get, "", "a: b\r\n".repeat(499) + "a: b");
    refused("a megabyte of cookies", get, "", "Cookie: " + "a=b; ".repeat(200_000));
    refused("a query of a megabyte", get + "?x=" + "1".repeat(1_000_000), "");
    refused("a path of a megabyte", "GET /" + "a".repeat(1_000_000), "");
    refused(
        "an unknown expectation",
        "POST /api/v1/jobs",
        "{}",
        "Expect: a-miracle",
        "Content-Type: application/json");
    refused("lines that end with LF alone", get.replace("none/none", "a%0ab/c"), "");
    raw(
        "LF alone",
        "GET /api/v1/queues/none/none HTTP/1.1\nHost: localhost\nConnection: close\n\n"
            .getBytes(ISO_8859_1),
        true,
        400,
        404);
    raw(
        "a version to come",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".getBytes(ISO_8859_1),
        true,
        400,
        505);
    raw(
        "a version in small letters",
        "GET / http/1.1\r\nHost: localhost\r\n\r\n".getBytes(ISO_8859_1),
        true,
        400,
        505);
    raw("a version that is split", "GET / HTTP/1.1\r" + FORGED + "\r\n\r\n", true, 400, 505);
    raw("no version", "GET /api/v1/queues/none/none\r\n\r\n", true, 400, 404, 505);
    String job = "PATCH /api/v1/jobs/shop/order.close/there";
    for (String tag :
        new String[] {
          "",
          "*x",
          "\"",
          "W/\"1\"",
          "\"a\",\"b\"",
          "\u00e4",
          "\"" + "1".repeat(4_000) + "\"",
          "\"-1\"",
          "\"x-99999999999999999999\""
        }) {
      String shown = tag.length() > 40 ? tag.length() + " characters" : tag;
      refused(
          "If-Match " + shown,
          job,
          "{\"delay\":1}",
          "If-Match: " + tag,
          "Content-Type: application/json");
    }
    for (String key : new String[] {"\"a" + FORGED + "\u0001\"", "\u00ff", "a\tb"}) {
      refused(
          "Idempotency-Key " + key,
          "POST /api/v1/jobs",
          job(""),
          "Idempotency-Key: " + key,
          "Content-Type: application/json");
    }
  }

  private void hosts() {
    for (String host :
        new String[] {
          "",
          "a b",
          "a/b",
          "a@b",
          "a\\b",
          "localhost:99999",
          "localhost:x",
          "[::1",
          "\u00e4",
          "a,b",
          "<script>",
          "localhost\u0000"
        }) {
      raw(
          "the host '" + host + "'",
          ("GET /api/v1/queues/none/none HTTP/1.1\r\nHost: "
                  + host
                  + "\r\nConnection: close\r\n\r\n")
              .getBytes(ISO_8859_1),
          false,
          400,
          // No name of this machine.
          403,
          404);
    }
    raw("no host", "GET /api/v1/store HTTP/1.1\r\nConnection: close\r\n\r\n", false, 400);
    refused("two hosts", "GET /api/v1/store", "", "Host: other");
    refused("another host in the line", "GET http://other/api/v1/store", "");
    refused("a user in the line", "GET http://a@localhost/api/v1/queues/none/none", "");
    refused("another scheme", "GET file:///etc/passwd", "");
    refused("only a host", "GET other:80", "");
  }

  private void paths() {
    for (String path :
        new String[] {
          "/api/v1/../../actuator/env",
          "/api/..;/actuator/env",
          "/actuator/env",
          "/actuator/heapdump",
          "/actuator/health/../env",
          "/actuator;/env",
          "/actuator/%65nv",
          "/actuator/env%00",
          "/%61ctuator/env",
          "/actuator/shutdown",
          "/actuator/loggers",
          "/actuator/..%2fenv",
          "/api/v1/..%2f..%2factuator/env",
          "/api/v1/%2e%2e/%2e%2e/actuator/env",
          "/api/v1/%252e%252e/x",
          "//actuator/env",
          "/./actuator/env",
          "/api\\v1\\jobs",
          "/api/v1%5cjobs",
          "/api/v1/jobs/shop/order.close/there.",
          "/api/v1/jobs/shop/order.close/there/",
          "/api/v1/jobs/shop/order.close/th%65re%00",
          "/api/v1/jobs/shop/order.close/there%20",
          "/api/v1/jobs/shop/order.close/%ff",
          "/api/v1/jobs/shop/order.close/%ed%a0%80",
          "/api/v1/jobs/shop/order.close/%c0%ae",
          "/api/v1/jobs/shop/order.close/%",
          "/api/v1/jobs/shop/order.close/%zz",
          "/api/v1/jobs/shop/order.close/%u0041",
          "/api/v1/jobs/shop/order.close/" + "a".repeat(129),
          "/api/v1/jobs/shop/order.close/x%0d%0a" + FORGED,
          "/api/v1/jobs/shop/order.close/x%0a" + FORGED,
          "/api/v1/jobs/shop/%1b[31m/x",
          "/api/v1/jobs/%e2%80%ae/a/x",
          "/api/v1/jobs/shop/order.close/$%7bjndi:x%7d",
          "/api/v1/jobs/shop/order.close/<script>",
          "/api/v1/jobs/shop/order.close/\"",
          "/api/v1/jobs/shop/order.close/{x}",
          "/api/v1/jobs/shop/order.close/a|b",
          "/api/v1/jobs/shop/order.close/\u00e4",
          "/WEB-INF/web.xml",
          "/META-INF/MANIFEST.MF",
          "/h2-console",
          "/swagger-ui.html",
          "/v3/api-docs",
          "/favicon.ico",
          "/.git/config",
          "/.env",
          "/console/../actuator/env",
          "/api/v1/queues?limit=%0d%0a" + FORGED,
          "/api/v1/queues?limit=99999999999999999999",
          "/api/v1/queues?limit=1e3",
          "/api/v1/queues?limit=%ff",
          "/api/v1/queues?limit=\u0661",
          "/api/v1/jobs?application=__proto__&sort=constructor",
          "/api/v1/jobs?application=shop&tag=t&tag=u",
          "/api/v1/jobs?application=shop&tag=%00",
          "/api/v1/jobs?application=shop&tag=t&limit=-0",
          "/api/v1/jobs?application=shop&tag=t&cursor=" + "A".repeat(4_000),
          "/api/v1/jobs?application=shop&tag=t&cursor=%2e%2e",
          "/api/v1/forecast?within=P999999999D",
          "/api/v1/forecast?within=1s&intervals=0x10",
          "/api/v1/jobs:cancel",
          "/api/v1/jobs:purge",
          "/api/v1/claims",
          "/api/v1/command",
          "/api/v1/store/losses/acknowledge",
        }) {
      String shown = path.length() > 80 ? path.substring(0, 80) + "..." : path;
      refused("the path " + shown, "GET " + path, "");
    }
  }

  private void methods() {
    for (String method :
        new String[] {
          "TRACE",
          "TRACK",
          "PROPFIND",
          "COPY",
          "BREW",
          "get",
          "G\u0000T",
          "G@T",
          "G(T",
          "A".repeat(5_000),
          "PUT",
          "\u00e4"
        }) {
      String shown = method.length() > 20 ? method.length() + " characters" : method;
      raw("the method " + shown, request(method + " /api/v1/jobs", ""), false, 400, 405, 501);
    }
    raw(
        "CONNECT",
        "CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\nConnection: close\r\n\r\n",
        true,
        400,
        404,
        405,
        501);
    raw(
        "all of the server",
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        true,
        200,
        400,
        404,
        405);
    raw("no method", " /api/v1/store HTTP/1.1\r\nHost: localhost\r\n\r\n", true, 400, 405);
    refused(
        "a delete in disguise",
        "POST /api/v1/jobs/shop/order.close/there",
        "_method=DELETE",
        "X-HTTP-Method-Override: DELETE",
        "Content-Type: application/x-www-form-urlencoded");
    refused("DELETE of all", "DELETE /api/v1/queues", "");
  }

  private void otherProtocols() {
    raw(
        "HTTP/2 without asking",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000",
        true,
        400,
        505);
    raw("TLS", "\u0016\u0003\u0001\u0000\u00a5\u0001\u0000\u0000\u00a1\u0003\u0003", true, 400);
    raw("Redis", "*1\r\n$8\r\nFLUSHALL\r\n", true, 400);
    raw("a shell", "() { :; }; reboot\r\n\r\n", true, 400, 505);
    raw("NUL and NUL", "\u0000".repeat(10_000), true, 400);
    raw("line breaks", "\r\n".repeat(10_000), true, 400);
    raw("a long line", "A".repeat(1_000_000), true, 400);
  }

  // Each of these is waited for no longer than the time that a connection may be silent.
  private void stalls() {
    String post = "POST /api/v1/jobs";
    raw("nothing", new byte[0], true, 400, 408);
    raw("half a line", "GET /api/v1", true, 400, 408);
    raw("half a head", "GET /api/v1/store HTTP/1.1\r\nHost: local", true, 400, 408);
    raw("a body that does not come", head(post, "Content-Length: 10"), false, 400, 408);
    raw(
        "half a body",
        concat(head(post, "Content-Length: 10"), "{\"a\"".getBytes(UTF_8)),
        false,
        400,
        408);
    raw(
        "half a chunk",
        concat(head(post, "Transfer-Encoding: chunked"), "10\r\n{".getBytes(UTF_8)),
        false,
        400,
        408);
    raw(
        "asked whether to send, and not sent",
        head(post, "Content-Length: 10", "Expect: 100-continue"),
        false,
        400,
        408);
  }

  private static String job(String more) {
    return "{\"application\":\"shop\",\"taskType\":\"order.close\"" + more + ",\"delay\":\"1h\"}";
  }

  /** A request for JSON that stays open behind its head. */
  static byte[] head(String line, String... headers) {
    return (line
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + String.join("\r\n", headers)
            + "\r\n\r\n")
        .getBytes(ISO_8859_1);
  }

  private static byte[] request(String line, String body, String... headers) {
    return request(line, body.getBytes(UTF_8), headers);
  }

  // The length is given where no header says anything about it.
  private static byte[] request(String line, byte[] body, String... headers) {
    String all = String.join("\r\n", headers);
    boolean framed = all.contains("Content-Length") || all.contains("Transfer-Encoding");
    String head =
        line
            + " HTTP/1.1\r\nHost: localhost\r\n"
            + (headers.length == 0 ? "" : all + "\r\n")
            + (framed || body.length == 0 ? "" : "Content-Length: " + body.length + "\r\n")
            + "Connection: close\r\n\r\n";
    return concat(head.getBytes(UTF_8), body);
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] both = new byte[first.length + second.length];
    System.arraycopy(first, 0, both, 0, first.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private static byte[] gzip(int size) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      byte[] blanks = new byte[1_000];
      for (int i = 0; i < size / 1_000; i++) {
        gzip.write(blanks);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private void refused(String name, String line, String body, String... headers) {
    refused(name, line, body.getBytes(UTF_8), headers);
  }

  private void refused(String name, String line, byte[] body, String... headers) {
    raw.add(new Raw(name, request(line, body, headers), REFUSED, false, true));
  }

  private void raw(String name, String bytes, boolean mayBeSilent, Integer... statuses) {
    raw(name, bytes.getBytes(ISO_8859_1), mayBeSilent, statuses);
  }

  private void raw(String name, byte[] bytes, boolean mayBeSilent, Integer... statuses) {
    raw.add(new Raw(name, bytes, Set.of(statuses), mayBeSilent, false));
  }

  private void body(String name, String body, String field) {
    bodies.add(new Bad(name, body.getBytes(UTF_8), "application/json", 400, "invalid", field));
  }

  private void bytes(String name, int... values) {
    byte[] body = job(",\"params\":\"" + "#".repeat(values.length) + "\"").getBytes(UTF_8);
    for (int i = 0, next = 0; i < body.length; i++) {
      if (body[i] == '#') {
        body[i] = (byte) values[next];
        next++;
      }
    }
    bodies.add(new Bad(name, body, "application/json", 400, "invalid", "body"));
  }
}
