package io.punctual.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.charset.Charset;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Bodies of a submit that must be refused, each with the field that its answer must name. */
final class BadInputs {

  /**
   * One of them.
   *
   * @param field what {@code errors[0].field} must be; null where no field is at fault
   */
  record Bad(
      String name,
      byte[] body,
      String contentType,
      int status,
      String code,
      @Nullable String field) {

    @Override
    public String toString() {
      return name;
    }
  }

  private static final String JSON = "application/json";
  private final Stream.Builder<Bad> all = Stream.builder();

  static Stream<Bad> all() {
    BadInputs inputs = new BadInputs();
    inputs.shapes();
    inputs.encodings();
    inputs.contentTypes();
    inputs.times();
    inputs.names();
    inputs.meanings();
    return inputs.all.build();
  }

  /** Values of {@code Idempotency-Key} that are none. */
  static Stream<String> keys() {
    return Stream.of("", "\"\"", "\"a", "a\"b", "a b", "\"a\\b\"", "k".repeat(256), "\"a\";x=1");
  }

  private void shapes() {
    add("empty body", "", "body");
    add("blank body", " \n\t ", "body");
    add("null", "null", "body");
    add("a list", "[]", "body");
    add("a text", "\"text\"", "body");
    add("a number", "17", "body");
    add("an empty object", "{}", "application");
    add("truncated JSON", "{\"application\":\"shop\",\"taskTy", "body");
    add("two documents", job("") + job(""), "body");
    add("trailing garbage", job("") + "x", "body");
    add("a comment", job("/* hello */"), "body");
    add("single quotes", job("").replace('"', '\''), "body");
    add("a key twice", job(",\"taskId\":\"a\",\"taskId\":\"b\""), "body");
    add("a field that is not known", job(",\"prio\":1"), "prio");
    add("a field in other case", job(",\"TaskID\":\"x\""), "TaskID");
    add("40,000 fields", "{" + list(40_000, "\"f%d\":1") + "}", "f0");
    add("too many tokens", "{" + list(60_000, "\"f%d\":1") + "}", "body");
    add("deep arrays", job(",\"params\":" + "[".repeat(10_000) + "]".repeat(10_000)), "body");
    add(
        "deep objects",
        job(",\"params\":" + "{\"a\":".repeat(10_000) + "1" + "}".repeat(10_000)),
        "body");
    add("a number of a million digits", job(",\"timeToRun\":" + "7".repeat(1_000_000)), "body");
    add("a name of 1,000 characters", job(",\"" + "n".repeat(1_000) + "\":1"), "body");
    add("an event as a text", job(",\"cancelOn\":[\"order.paid\"]"), "cancelOn[0]");
    add("an event without a key", job(",\"runOn\":[{\"name\":\"a\"}]"), "runOn[0].key");
    add(
        "an event's name",
        job(",\"cancelOn\":[{\"name\":\"a b\",\"key\":\"k\"}]"),
        "cancelOn[0].name");
    add(
        "nine events",
        job(",\"cancelOn\":[" + list(9, "{\"name\":\"e%d\",\"key\":\"k\"}") + "]"),
        "cancelOn");
    add("params as an object", job(",\"params\":{\"a\":1}"), "params");
    add("params as a number", job(",\"params\":1"), "params");
    add("params too long", job(",\"params\":\"" + "p".repeat(262_145) + "\""), "params");
    add("params too long in bytes", job(",\"params\":\"" + "ü".repeat(131_073) + "\""), "params");
  }

  private void encodings() {
    add("a byte order mark", "\ufeff" + job(""), "body");
    raw("UTF-16", job("").getBytes(UTF_16), "body");
    raw("UTF-32", job("").getBytes(Charset.forName("UTF-32")), "body");
    byte[] wrong = job(",\"params\":\"##\"").getBytes(UTF_8);
    raw("a broken UTF-8 sequence", patched(wrong, 0xC3, 0x28), "body");
    raw("an overlong NUL", patched(wrong, 0xC0, 0x80), "body");
    raw("latin1 that is no UTF-8", job(",\"params\":\"ü\"").getBytes(ISO_8859_1), "body");
    add("half of a surrogate pair", job(",\"params\":\"\\ud800\""), "params");
    add("the halves in the wrong order", job(",\"params\":\"\\udc00\\ud800\""), "params");
    add("NUL in the id", job(",\"taskId\":\"a\\u0000b\""), "taskId");
    add("NUL in a header", job(",\"headers\":{\"a\":\"\\u0000\"}"), "headers.a");
    add("NUL in retry", job(",\"retry\":\"\\u0000\""), "retry");
    add("NUL in dueAt", job("", "\"dueAt\":\"\\u0000\""), "dueAt");
  }

  private void contentTypes() {
    for (String type :
        new String[] {
          "text/plain", "application/xml", "application/json;charset=latin1", "nonsense", "*"
        }) {
      all.add(
          new Bad(
              "Content-Type " + type, utf8(job("")), type, 415, "unsupported-media-type", null));
    }
    all.add(
        new Bad(
            "XML with a DTD",
            utf8("<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><x>&e;</x>"),
            "application/xml",
            415,
            "unsupported-media-type",
            null));
    add("XML that is said to be JSON", "<x>1</x>", "body");
  }

  private void times() {
    add("no time", job("", ""), "delayTime");
    add("two times", job("", "\"delay\":1,\"delayTime\":1799999999999"), "delayTime");
    add("a negative time", job("", "\"delayTime\":-1"), "delayTime");
    add("a negative delay", job("", "\"delay\":-1"), "delay");
    add("a negative delay as text", job("", "\"delay\":\"-5s\""), "delay");
    add("seconds", job("", "\"delayTime\":1790000000"), "delayTime");
    add("microseconds", job("", "\"delayTime\":1790000000000000"), "delayTime");
    for (String number :
        new String[] {
          "9007199254740992",
          "9007199254740993",
          "9223372036854775807",
          "9223372036854775808",
          "1.5",
          "1e999999999",
          "1e3",
          "true",
          "\"123\"",
          "\"2027-01-31T09:30:00Z\"",
          "[1]"
        }) {
      add("delayTime " + number, job("", "\"delayTime\":" + number), "delayTime");
    }
    add("NaN", job("", "\"delayTime\":NaN"), "body");
    add("Infinity", job("", "\"delayTime\":Infinity"), "body");
    for (String delay :
        new String[] {
          "9223372036854775807",
          "9223372036854775808",
          "1.5",
          "true",
          "\"\"",
          "\"5 weeks\"",
          "\"99999999999999999999d\"",
          "\"9223372036854775807d\"",
          "\"P999999999999999999D\""
        }) {
      add("delay " + delay, job("", "\"delay\":" + delay), "delay");
    }
    add("a time without offset", job("", "\"dueAt\":\"2027-01-31T09:30:00\""), "dueAt");
    add("the year 10000", job("", "\"dueAt\":\"+10000-01-01T00:00:00Z\""), "dueAt");
    add("dueAt as a number", job("", "\"dueAt\":1790000000000"), "dueAt");
    timeRules();
  }

  private void timeRules() {
    String at = "\"dueAt\":\"2027-01-31T09:30:00Z\",";
    add("notAfter at due time", job("", at + "\"notAfter\":\"2027-01-31T09:30:00Z\""), "notAfter");
    add("notAfter before due", job("", at + "\"notAfter\":\"2027-01-30T09:30:00Z\""), "notAfter");
    add("notAfter without offset", job("", at + "\"notAfter\":\"2027-02-01T09:30\""), "notAfter");
    add(
        "expiresIn not above the delay",
        job("", "\"delay\":5000,\"expiresIn\":\"5s\""),
        "expiresIn");
    add("expiresIn 0", job(",\"expiresIn\":0"), "expiresIn");
    add(
        "two last starts",
        job("", at + "\"notAfter\":\"2027-02-01T09:30:00Z\",\"expiresIn\":\"900d\""),
        "expiresIn");
    for (String window :
        new String[] {"", "Mon", "09:00-09:00", "Mon 09:00-25:00", "Mo 1:00-2:00"}) {
      add("window '" + window + "'", job(",\"window\":\"" + window + "\""), "window");
    }
    String window = ",\"window\":\"09:00-20:00\"";
    add("an unknown zone", job(window + ",\"windowZone\":\"Europe/Bielefeld\""), "windowZone");
    add("an offset as a zone", job(window + ",\"windowZone\":\"+01:00\""), "windowZone");
    add("a zone alone", job(",\"windowZone\":\"Europe/Berlin\""), "windowZone");
    add("an unknown calendar", job(",\"calendar\":\"none\""), "calendar");
    add("a calendar that is no name", job(",\"calendar\":\"a b\""), "calendar");
    for (String within : new String[] {"0", "-1", "\"31d\"", "\"soon\"", "true"}) {
      add("within " + within, job(",\"within\":" + within), "within");
    }
  }

  private void names() {
    for (String id :
        new String[] {
          "",
          " ",
          ".",
          "..",
          "a{b}c",
          "{}",
          "*",
          "?",
          "[a-z]",
          "../../etc/passwd",
          "a/b",
          "x\\r\\nINFO all is well",
          "\\u001b[31m\\u0007",
          "' or 1=1--",
          "${jndi:ldap://x/a}",
          "<script>alert(1)</script>",
          "a\\u202eb",
          "a\\u200db",
          "\\u0430",
          "e\\u0301",
          "i".repeat(129),
          "i".repeat(900_000)
        }) {
      String shown = id.length() > 40 ? id.length() + " characters" : id;
      add("taskId " + shown, job(",\"taskId\":\"" + id + "\""), "taskId");
    }
    add("a number as id", job(",\"taskId\":1"), "taskId");
    for (String app : new String[] {"", ".", "..", "a b", "../x"}) {
      add("application " + app, job("").replace("\"shop\"", "\"" + app + "\""), "application");
      add("taskType " + app, job("").replace("\"order.close\"", "\"" + app + "\""), "taskType");
    }
  }

  private void meanings() {
    for (String time :
        new String[] {"0", "-1", "999", "1000000000000", "\"0s\"", "\"25h\"", "{}"}) {
      add("timeToRun " + time, job(",\"timeToRun\":" + time), "timeToRun");
    }
    for (String retry :
        new String[] {
          "",
          "often",
          "-1s",
          "1s;attempts=0",
          "1s;attempts=-1",
          "1s;attempts=2147483648",
          "1s;attempts=1001",
          "exponential(0s,1h)",
          "exponential(1s,1h,NaN)",
          "exponential(1s,9999999d)",
          "x".repeat(500_000),
          list(10_000, "1s")
        }) {
      String shown = retry.length() > 40 ? retry.length() + " characters" : retry;
      add("retry " + shown, job(",\"retry\":\"" + retry + "\""), "retry");
    }
    add("retry as a list", job(",\"retry\":[1,2]"), "retry");
    add("headers as a text", job(",\"headers\":\"a\""), "headers");
    add("a header that is no text", job(",\"headers\":{\"a\":1}"), "headers.a");
    add("a header that is null", job(",\"headers\":{\"a\":null}"), "headers.a");
    add("17 headers", job(",\"headers\":{" + list(17, "\"h%d\":\"\"") + "}"), "headers");
    add("a header Host", job(",\"headers\":{\"Host\":\"evil\"}"), "headers");
    add("a header with a colon", job(",\"headers\":{\"a:b\":\"\"}"), "headers");
    add("a header without a name", job(",\"headers\":{\"\":\"\"}"), "headers");
    add("a split header", job(",\"headers\":{\"a\":\"x\\r\\nb: y\"}"), "headers.a");
    add("a long header", job(",\"headers\":{\"a\":\"" + "v".repeat(1_025) + "\"}"), "headers.a");
  }

  private static String job(String more) {
    return job(more, "\"delay\":\"1h\"");
  }

  private static String job(String more, String time) {
    return "{\"application\":\"shop\",\"taskType\":\"order.close\""
        + more
        + (time.isEmpty() ? "" : "," + time)
        + "}";
  }

  private static String list(int count, String each) {
    return String.join(
        ",", IntStream.range(0, count).mapToObj(i -> each.replace("%d", "" + i)).toList());
  }

  private static byte[] patched(byte[] body, int first, int second) {
    byte[] patched = body.clone();
    for (int i = 0; i < patched.length - 1; i++) {
      if (patched[i] == '#') {
        patched[i] = (byte) first;
        patched[i + 1] = (byte) second;
        return patched;
      }
    }
    throw new AssertionError("nothing to patch");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private void add(String name, String body, String field) {
    raw(name, utf8(body), field);
  }

  private void raw(String name, byte[] body, String field) {
    all.add(new Bad(name, body, JSON, 400, "invalid", field));
  }
}
