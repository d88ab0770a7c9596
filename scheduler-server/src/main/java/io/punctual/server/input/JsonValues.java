package io.punctual.server.input;

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
import java.util.function.Function;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.module.SimpleModule;

/** Reads the values of requests: each in its own form, without coercion. */
public final class JsonValues {

  private static final String DURATION =
      "must be milliseconds, or a text such as 500ms, 30s, 10m, 2h, PT30M";

  private JsonValues() {}

  static SimpleModule module() {
    return new Values()
        .read(String.class, JsonValues::text)
        .read(Boolean.class, JsonValues::flag)
        .read(Integer.class, JsonValues::integer)
        .read(BigDecimal.class, JsonValues::seconds)
        .read(EpochMillis.class, JsonValues::epochMillis)
        .read(Instant.class, JsonValues::instant)
        .read(Moment.class, JsonValues::moment)
        .read(Duration.class, JsonValues::duration)
        .read(RetryPolicy.class, JsonValues::retry);
  }

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
