package io.punctual.server.web;

import io.punctual.DelayQueueJob;
import io.punctual.Limits;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Ownership;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The fields of one JSON object, read one by one; what is not asked for is an error. Nothing is
 * coerced: a number in quotes is no number. Errors name the field.
 */
public final class JsonFields {

  private static final int MAX_LIST = 1000;
  private static final int MAX_SHOWN = 128;
  private static final String DURATION =
      "must be milliseconds, or a text such as 500ms, 30s, 10m, 2h, PT30M";

  private final JsonNode node;
  private final String path;
  // A dozen at most: to look through them takes less than to keep them in a set.
  private final List<String> known = new ArrayList<>(12);

  private JsonFields(JsonNode node, String path) {
    this.node = node;
    this.path = path;
  }

  public static JsonFields of(JsonNode node, String path) {
    if (!node.isObject()) {
      throw ApiException.invalid(
          path.isEmpty() ? "body" : path.substring(0, path.length() - 1), "must be a JSON object");
    }
    return new JsonFields(node, path);
  }

  /** The node of a field; null when it is absent or null. */
  public @Nullable JsonNode get(String field) {
    known.add(field);
    JsonNode value = node.get(field);
    return value == null || value.isNull() ? null : value;
  }

  /** The text of a field for an answer, whatever else is wrong; null if there is none. */
  public @Nullable String peek(String field) {
    JsonNode value = node.get(field);
    return value != null && value.isString() && value.stringValue().length() <= MAX_SHOWN
        ? value.stringValue()
        : null;
  }

  public @Nullable String text(String field) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isString()) {
      throw error(field, "must be a text in quotes" + hint(value));
    }
    String text = value.stringValue();
    if (!Limits.isWhole(text)) {
      throw error(field, "must not hold half of a surrogate pair");
    }
    return text;
  }

  private static String hint(JsonNode value) {
    return value.isContainer() ? "; write JSON inside it as a text" : "";
  }

  public @Nullable String name(String field) {
    String value = text(field);
    if (value != null && !Limits.isName(value)) {
      throw error(field, Limits.NAME_RULE);
    }
    return value;
  }

  /** The application that the call is about; the caller's own if it does not say. */
  public String application() {
    String value = Ownership.application(name("application"));
    if (value == null) {
      throw error("application", "is missing");
    }
    return value;
  }

  public String requiredName(String field) {
    String value = name(field);
    if (value == null) {
      throw error(field, "is missing");
    }
    return value;
  }

  /** Epoch milliseconds between 1970 and the end of 9999. */
  public @Nullable Long epochMillis(String field) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber()) {
      throw error(field, "must be a whole number of epoch milliseconds");
    }
    BigInteger number = value.bigIntegerValue();
    long max = Limits.MAX_DUE.toEpochMilli();
    if (number.signum() < 0 || number.compareTo(BigInteger.valueOf(max)) > 0) {
      throw error(
          field,
          "must be epoch milliseconds between 0 and "
              + max
              + (number.bitLength() > 49 && number.bitLength() < 56
                  ? "; this looks like microseconds"
                  : ""));
    }
    long millis = number.longValueExact();
    if (millis >= 1_000_000_000L && millis < 10_000_000_000L) {
      throw error(field, "must be epoch milliseconds; this looks like seconds");
    }
    return millis;
  }

  /** A whole number. */
  public int integer(String field, int missing, int min, int max) {
    JsonNode value = get(field);
    if (value == null) {
      return missing;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.intValue() < min
        || value.intValue() > max) {
      throw error(field, "must be a whole number between " + min + " and " + max);
    }
    return value.intValue();
  }

  /** True or false; false when it is missing. */
  public boolean flag(String field) {
    JsonNode value = get(field);
    if (value == null) {
      return false;
    }
    if (!value.isBoolean()) {
      throw error(field, "must be true or false");
    }
    return value.booleanValue();
  }

  /** A number of seconds, with a fraction or without. */
  public @Nullable Duration seconds(String field, Duration min, Duration max) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isNumber()) {
      throw error(field, "must be a number of seconds");
    }
    // A number beyond all doubles is read as infinite.
    BigDecimal seconds =
        Double.isFinite(value.doubleValue()) ? value.decimalValue() : BigDecimal.valueOf(-1);
    if (seconds.compareTo(BigDecimal.valueOf(min.toMillis(), 3)) < 0
        || seconds.compareTo(BigDecimal.valueOf(max.toMillis(), 3)) > 0) {
      throw error(field, "must be between " + seconds(min) + " and " + seconds(max) + " seconds");
    }
    return Duration.ofMillis(
        seconds.movePointRight(3).setScale(0, RoundingMode.HALF_UP).longValueExact());
  }

  private static String seconds(Duration duration) {
    return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
  }

  /** An instant with offset (RFC 3339). */
  public @Nullable Long instant(String field) {
    String text = text(field);
    return text == null ? null : instant(path + field, text);
  }

  static long instant(String field, String text) {
    try {
      Instant instant = OffsetDateTime.parse(text).toInstant();
      if (instant.isBefore(Instant.EPOCH) || instant.isAfter(Limits.MAX_DUE)) {
        throw ApiException.invalid(field, "must be between 1970 and " + Limits.MAX_DUE);
      }
      return instant.toEpochMilli();
    } catch (DateTimeParseException e) {
      throw ApiException.invalid(field, "must be a time with offset such as 2027-01-31T09:30:00Z");
    }
  }

  /** An instant with offset, or epoch milliseconds. */
  public @Nullable Long moment(String field) {
    JsonNode value = get(field);
    return value != null && value.isString() ? instant(field) : epochMillis(field);
  }

  /** As {@link #moment(String)}, of a parameter in the address. */
  public static @Nullable Long moment(String name, @Nullable String value) {
    if (value == null) {
      return null;
    }
    // A plus sign in an address means a space to most programs.
    return value.matches("\\d{1,15}")
        ? Long.valueOf(value)
        : Long.valueOf(instant(name, value.replace(' ', '+')));
  }

  /** Milliseconds as a number, or a text such as 30m or PT30M. */
  public @Nullable Duration duration(String field, Duration min, Duration max) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (value.isIntegralNumber() && value.canConvertToLong()) {
      return bounded(path + field, Duration.ofMillis(value.longValue()), min, max);
    } else if (value.isString()) {
      return parsed(path + field, value.stringValue(), min, max);
    }
    throw error(field, DURATION);
  }

  static Duration parsed(String name, String text, Duration min, Duration max) {
    try {
      return bounded(name, DelayQueueJob.parseDuration(text), min, max);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid(name, DURATION);
    }
  }

  /** As {@link #duration(String, Duration, Duration)}, of a parameter in the address. */
  public static @Nullable Duration duration(
      String name, @Nullable String value, Duration min, Duration max) {
    if (value == null) {
      return null;
    }
    return value.matches("\\d{1,15}")
        ? bounded(name, Duration.ofMillis(Long.parseLong(value)), min, max)
        : parsed(name, value, min, max);
  }

  private static Duration bounded(String name, Duration duration, Duration min, Duration max) {
    if (duration.compareTo(min) < 0 || duration.compareTo(max) > 0) {
      throw ApiException.invalid(
          name,
          "must be between " + text(min) + " and " + text(max) + ", but was " + text(duration));
    }
    return duration;
  }

  /** A duration as it may be sent, in the largest unit of which it is a whole number. */
  private static String text(Duration duration) {
    // At most so many as fit, where one is longer than the age of the world.
    long ms = TimeUnit.MILLISECONDS.convert(duration);
    if (ms % 1000 != 0) {
      return ms + "ms";
    }
    long s = ms / 1000;
    if (s == 0 || s % 60 != 0) {
      return s + "s";
    } else if (s % 3600 != 0) {
      return s / 60 + "m";
    }
    return s % 86_400 == 0 ? s / 86_400 + "d" : s / 3600 + "h";
  }

  /** An object of texts. */
  public Map<String, String> texts(String field) {
    JsonNode value = get(field);
    if (value == null) {
      return Map.of();
    }
    Map<String, String> texts = new LinkedHashMap<>();
    JsonFields fields = of(value, path + field + ".");
    for (String name : value.propertyNames()) {
      String text = fields.text(name);
      if (text == null) {
        throw fields.error(name, "must be a text in quotes");
      }
      texts.put(name, text);
    }
    return texts;
  }

  /** A list of texts. */
  public List<String> textList(String field) {
    JsonNode value = get(field);
    if (value == null) {
      return List.of();
    }
    if (!value.isArray() || value.size() > MAX_LIST) {
      throw error(field, "must be a list of at most " + MAX_LIST + " texts in quotes");
    }
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < value.size(); i++) {
      if (!value.get(i).isString()) {
        throw error(field + "[" + i + "]", "must be a text in quotes");
      }
      texts.add(value.get(i).stringValue());
    }
    return texts;
  }

  /** To be called last: refuses what was not asked for. */
  public void noMore() {
    for (String name : node.propertyNames()) {
      if (!known.contains(name)) {
        String shown = name.length() > 64 ? name.substring(0, 64) + "..." : name;
        throw error(
            shown.replaceAll("[^\\x20-\\x7e]", "?"),
            "is not known here; known are " + String.join(", ", new java.util.TreeSet<>(known)));
      }
    }
  }

  public ApiException error(String field, String detail) {
    return ApiException.invalid(path + field, detail);
  }
}
