package io.punctual.server.api;

import io.punctual.DelayQueueJob;
import io.punctual.Limits;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The fields of one JSON object, read one by one; what is not asked for is an error. Nothing is
 * coerced: a number in quotes is no number. Errors name the field.
 */
final class JsonFields {

  private static final int MAX_LIST = 1000;

  private final JsonNode node;
  private final String path;
  private final Set<String> known = new HashSet<>();

  private JsonFields(JsonNode node, String path) {
    this.node = node;
    this.path = path;
  }

  static JsonFields of(JsonNode node, String path) {
    if (!node.isObject()) {
      throw ApiException.invalid(
          path.isEmpty() ? "body" : path.substring(0, path.length() - 1), "must be a JSON object");
    }
    return new JsonFields(node, path);
  }

  /** The node of a field; null when it is absent or null. */
  @Nullable JsonNode get(String field) {
    known.add(field);
    JsonNode value = node.get(field);
    return value == null || value.isNull() ? null : value;
  }

  @Nullable String text(String field) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isString()) {
      throw error(field, "must be a text in quotes" + hint(value));
    }
    String text = value.stringValue();
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (!Character.isHighSurrogate(text.charAt(i))
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(++i))) {
          throw error(field, "must not hold half of a surrogate pair");
        }
      }
    }
    return text;
  }

  private static String hint(JsonNode value) {
    return value.isContainer() ? "; write JSON inside it as a text" : "";
  }

  @Nullable String name(String field) {
    String value = text(field);
    if (value != null && !Limits.NAME.matcher(value).matches()) {
      throw error(field, Limits.NAME_RULE);
    }
    return value;
  }

  String requiredName(String field) {
    String value = name(field);
    if (value == null) {
      throw error(field, "is missing");
    }
    return value;
  }

  /** Epoch milliseconds between 1970 and the end of 9999. */
  @Nullable Long epochMillis(String field) {
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

  /** An instant with offset (RFC 3339). */
  @Nullable Long instant(String field) {
    String text = text(field);
    if (text == null) {
      return null;
    }
    try {
      Instant instant = OffsetDateTime.parse(text).toInstant();
      if (instant.isBefore(Instant.EPOCH) || instant.isAfter(Limits.MAX_DUE)) {
        throw error(field, "must be between 1970 and " + Limits.MAX_DUE);
      }
      return instant.toEpochMilli();
    } catch (DateTimeParseException e) {
      throw error(field, "must be a time with offset such as 2027-01-31T09:30:00Z");
    }
  }

  /** Milliseconds as a number, or a text such as 30m or PT30M. */
  @Nullable Duration duration(String field, Duration min, Duration max) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    Duration duration;
    if (value.isIntegralNumber() && value.canConvertToLong()) {
      duration = Duration.ofMillis(value.longValue());
    } else if (value.isString()) {
      try {
        duration = DelayQueueJob.parseDuration(value.stringValue());
      } catch (IllegalArgumentException e) {
        throw error(field, "must be milliseconds, or a text such as 500ms, 30s, 10m, 2h, PT30M");
      }
    } else {
      throw error(field, "must be milliseconds, or a text such as 500ms, 30s, 10m, 2h, PT30M");
    }
    if (duration.compareTo(min) < 0 || duration.compareTo(max) > 0) {
      throw error(field, "must be between " + min + " and " + max + ", not " + duration);
    }
    return duration;
  }

  /** An object of texts. */
  Map<String, String> texts(String field) {
    JsonNode value = get(field);
    Map<String, String> texts = new LinkedHashMap<>();
    if (value != null) {
      JsonFields fields = of(value, path + field + ".");
      for (String name : value.propertyNames()) {
        String text = fields.text(name);
        if (text == null) {
          throw fields.error(name, "must be a text in quotes");
        }
        texts.put(name, text);
      }
    }
    return texts;
  }

  /** A list of texts. */
  List<String> textList(String field) {
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
  void noMore() {
    for (String name : node.propertyNames()) {
      if (!known.contains(name)) {
        String shown = name.length() > 64 ? name.substring(0, 64) + "..." : name;
        throw error(
            shown.replaceAll("[^\\x20-\\x7e]", "?"),
            "is not known here; known are " + String.join(", ", new java.util.TreeSet<>(known)));
      }
    }
  }

  ApiException error(String field, String detail) {
    return ApiException.invalid(path + field, detail);
  }
}
