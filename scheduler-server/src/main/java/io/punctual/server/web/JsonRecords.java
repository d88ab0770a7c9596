package io.punctual.server.web;

import com.fasterxml.jackson.annotation.Nulls;
import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * Parses JSON and binds it to records, strictly: bounded, no field twice, no field that the record
 * does not have, and nothing coerced: a number in quotes is no number. A field that is null counts
 * as absent. A record gets null for what is absent, and checks its values in its constructor.
 * Errors name the field.
 */
public final class JsonRecords {

  // A batch of a thousand jobs with all headers and tags has some 75,000. As a node, each takes a
  // hundred bytes, however short it is.
  private static final int MAX_TOKENS = 100_000;
  private static final int MAX_SHOWN = 64;
  private static final String DURATION =
      "must be milliseconds, or a text such as 500ms, 30s, 10m, 2h, PT30M";

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(16)
                          .maxTokenCount(MAX_TOKENS)
                          .maxNumberLength(32)
                          .maxNameLength(256)
                          .maxStringLength(2 * 1024 * 1024)
                          .build())
                  .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          // A number beyond all doubles would be read as infinite.
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .changeDefaultNullHandling(nulls -> nulls.withContentNulls(Nulls.FAIL))
          .addModule(
              new Values()
                  .read(String.class, JsonRecords::text)
                  .read(Boolean.class, JsonRecords::flag)
                  .read(Integer.class, JsonRecords::integer)
                  .read(BigDecimal.class, JsonRecords::seconds)
                  .read(EpochMillis.class, JsonRecords::epochMillis)
                  .read(Instant.class, JsonRecords::instant)
                  .read(Moment.class, JsonRecords::moment)
                  .read(Duration.class, JsonRecords::duration)
                  .read(RetryPolicy.class, JsonRecords::retry))
          .build();

  private JsonRecords() {}

  /** A number of epoch milliseconds between 1970 and the end of 9999. */
  public record EpochMillis(long value) {}

  /**
   * A point in time, as an instant with offset or as epoch milliseconds.
   *
   * @param millis epoch ms
   */
  public record Moment(long millis) {}

  /** How values of a type are read, whatever stands there. */
  private static final class Values extends SimpleModule {

    private static final long serialVersionUID = 1L;

    <T> Values read(Class<T> type, Function<JsonParser, T> reader) {
      addDeserializer(
          type,
          new StdDeserializer<>(type) {
            @Override
            public T deserialize(JsonParser parser, DeserializationContext context) {
              return reader.apply(parser);
            }
          });
      return this;
    }
  }

  /**
   * Parses one JSON document.
   *
   * @throws ApiException 400
   */
  static JsonNode parse(String text) {
    if (text.isBlank()) {
      throw ApiException.invalid("body", "is empty; it must be a JSON object");
    }
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      String where =
          e.getLocation() == null
              ? ""
              : String.format(
                  Locale.ROOT,
                  " at line %d, column %d",
                  e.getLocation().getLineNr(),
                  e.getLocation().getColumnNr());
      throw ApiException.invalid("body", "is not valid JSON" + where + ": " + reason(e));
    }
  }

  /** An object without fields. */
  static JsonNode empty() {
    return MAPPER.createObjectNode();
  }

  private static String reason(JacksonException e) {
    String message = String.valueOf(e.getOriginalMessage());
    String line = message.lines().findFirst().orElse("").replaceAll("\\p{Cntrl}", "?");
    // What could be switched on in the library is nothing to a caller.
    line =
        line.replaceAll(
            " (\\(bound as|for `ObjectNode`|\\(not recognized as one since).*|: enable `.*", "");
    line = line.replaceAll(", from `[^`]*`", "");
    line = line.replaceAll("\\(?`?(tools|com|java)\\.[\\w.$]+[`)]?(\\([^)]*\\))?", "").strip();
    return line.length() > 200 ? line.substring(0, 200) + "..." : line;
  }

  /**
   * Binds an object to a record.
   *
   * @param path where the object stands in the body, for instance {@code jobs[3]}; empty for the
   *     body itself
   * @throws ApiException 400 that names the field, or what the record's constructor throws
   */
  public static <T> T bind(JsonNode json, Class<T> type, String path) {
    if (!json.isObject()) {
      throw ApiException.invalid(path.isEmpty() ? "body" : path, "must be a JSON object");
    }
    try {
      return MAPPER.treeToValue(json, type);
    } catch (JacksonException e) {
      throw translate(e).within(path);
    }
  }

  private static ApiException translate(JacksonException e) {
    String field = field(e);
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ApiException known) {
        return known.within(field);
      }
    }
    if (e instanceof UnrecognizedPropertyException unknown) {
      return unknown(field, unknown.getKnownPropertyIds().stream().map(Object::toString).toList());
    }
    Class<?> type = e instanceof MismatchedInputException wrong ? wrong.getTargetType() : null;
    return ApiException.invalid(field, type == null ? "cannot be read" : expected(type));
  }

  /** The error for a field that an object must not have. */
  public static ApiException unknown(String field, Collection<String> known) {
    return ApiException.invalid(
        field, "is not known here; known are " + String.join(", ", new TreeSet<>(known)));
  }

  private static String expected(Class<?> type) {
    if (Collection.class.isAssignableFrom(type)) {
      return "must be a list of texts in quotes";
    } else if (Map.class.isAssignableFrom(type)) {
      return "must be a JSON object whose values are texts in quotes";
    }
    return type == String.class ? "must be a text in quotes" : "must be a JSON object";
  }

  private static String field(JacksonException e) {
    StringBuilder field = new StringBuilder();
    for (JacksonException.Reference part : e.getPath()) {
      String name = part.getPropertyName();
      if (name == null) {
        field.append('[').append(part.getIndex()).append(']');
      } else {
        String shown = name.length() > MAX_SHOWN ? name.substring(0, MAX_SHOWN) + "..." : name;
        field.append(field.isEmpty() ? "" : ".").append(shown.replaceAll("[^\\x20-\\x7e]", "?"));
      }
    }
    return field.toString();
  }

  // Of a value whose field the caller adds.
  private static ApiException invalid(String detail) {
    return ApiException.invalid("", detail);
  }

  private static String text(JsonParser json) {
    String text = string(json);
    if (!Limits.isWhole(text)) {
      throw invalid("must not hold half of a surrogate pair");
    }
    return text;
  }

  private static String string(JsonParser json) {
    if (!json.hasToken(JsonToken.VALUE_STRING)) {
      throw invalid(
          "must be a text in quotes"
              + (json.currentToken().isStructStart() ? "; write JSON inside it as a text" : ""));
    }
    return json.getString();
  }

  private static Boolean flag(JsonParser json) {
    if (!json.currentToken().isBoolean()) {
      throw invalid("must be true or false");
    }
    return json.getBooleanValue();
  }

  // A number beyond all ints is beyond the bounds of the field as well.
  private static Integer integer(JsonParser json) {
    if (!json.hasToken(JsonToken.VALUE_NUMBER_INT)) {
      throw invalid("must be a whole number");
    }
    BigInteger number = json.getBigIntegerValue();
    return number.bitLength() < Integer.SIZE
        ? number.intValueExact()
        : number.signum() < 0 ? Integer.MIN_VALUE : Integer.MAX_VALUE;
  }

  private static BigDecimal seconds(JsonParser json) {
    if (!json.currentToken().isNumeric()) {
      throw invalid("must be a number of seconds");
    }
    return json.getDecimalValue();
  }

  private static EpochMillis epochMillis(JsonParser json) {
    if (!json.hasToken(JsonToken.VALUE_NUMBER_INT)) {
      throw invalid("must be a whole number of epoch milliseconds");
    }
    BigInteger number = json.getBigIntegerValue();
    long max = Limits.MAX_DUE.toEpochMilli();
    if (number.signum() < 0 || number.compareTo(BigInteger.valueOf(max)) > 0) {
      throw invalid(
          "must be epoch milliseconds between 0 and "
              + max
              + (number.bitLength() > 49 && number.bitLength() < 56
                  ? "; this looks like microseconds"
                  : ""));
    }
    long millis = number.longValueExact();
    if (millis >= 1_000_000_000L && millis < 10_000_000_000L) {
      throw invalid("must be epoch milliseconds; this looks like seconds");
    }
    return new EpochMillis(millis);
  }

  private static Instant instant(JsonParser json) {
    return instant("", text(json));
  }

  /**
   * Reads an instant with offset (RFC 3339).
   *
   * @throws ApiException 400
   */
  static Instant instant(String field, String text) {
    try {
      Instant instant = OffsetDateTime.parse(text).toInstant();
      if (instant.isBefore(Instant.EPOCH) || instant.isAfter(Limits.MAX_DUE)) {
        throw ApiException.invalid(field, "must be between 1970 and " + Limits.MAX_DUE);
      }
      return instant;
    } catch (DateTimeParseException e) {
      throw ApiException.invalid(field, "must be a time with offset such as 2027-01-31T09:30:00Z");
    }
  }

  private static Moment moment(JsonParser json) {
    return new Moment(
        json.hasToken(JsonToken.VALUE_STRING)
            ? instant(json).toEpochMilli()
            : epochMillis(json).value());
  }

  private static Duration duration(JsonParser json) {
    if (json.hasToken(JsonToken.VALUE_STRING)) {
      return duration("", json.getString());
    } else if (!json.hasToken(JsonToken.VALUE_NUMBER_INT)) {
      throw invalid(DURATION);
    }
    BigInteger millis = json.getBigIntegerValue();
    if (millis.bitLength() >= Long.SIZE) {
      throw invalid(DURATION);
    }
    return Duration.ofMillis(millis.longValueExact());
  }

  /**
   * Reads a duration such as 30m or PT30M.
   *
   * @throws ApiException 400
   */
  static Duration duration(String field, String text) {
    try {
      return DelayQueueJob.parseDuration(text);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid(field, DURATION);
    }
  }

  private static RetryPolicy retry(JsonParser json) {
    String text = text(json);
    if (!text.matches("[ -~]*")) {
      throw invalid("must be printable ASCII");
    }
    try {
      return RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      // The message quotes the text, which can be of any length.
      String message = String.valueOf(e.getMessage());
      throw invalid(message.length() > 400 ? message.substring(0, 400) + "..." : message);
    }
  }
}
