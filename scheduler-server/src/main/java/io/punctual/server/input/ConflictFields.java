package io.punctual.server.input;

import io.punctual.conflict.OnConflict;
import io.punctual.conflict.OnConflict.Keep;
import io.punctual.conflict.OnConflict.WhileRunning;
import io.punctual.server.problem.ApiException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rule of a submit for an id that exists, as a call gives it; an absent field is null.
 *
 * @param onConflict {@code replace} or {@code debounce}
 * @param quiet of a debounce, required: how long no submit must come
 * @param atMost of a debounce, required: how long its first submit may be delayed
 * @param keep of a debounce: {@code last} or {@code first}
 * @param whileRunning {@code queue_one}, {@code drop} or {@code replace_queued}
 */
public record ConflictFields(
    @Nullable String onConflict,
    @Nullable Duration quiet,
    @Nullable Duration atMost,
    @Nullable String keep,
    @Nullable String whileRunning) {

  /**
   * Checks the fields together.
   *
   * @throws ApiException 400 naming the field
   */
  public OnConflict read() {
    boolean debounce = "debounce".equals(onConflict);
    if (onConflict != null && !debounce && !onConflict.equals("replace")) {
      throw ApiException.invalid("onConflict", "must be replace or debounce, or be absent");
    } else if (whileRunning != null && onConflict != null) {
      throw ApiException.invalid(
          "whileRunning", "cannot be combined with onConflict: give one of them");
    } else if (!debounce) {
      onlyForDebounce("quiet", quiet);
      onlyForDebounce("atMost", atMost);
      onlyForDebounce("keep", keep);
    }
    WhileRunning rule = word("whileRunning", whileRunning, WhileRunning.class);
    if (rule != null) {
      return OnConflict.whileRunning(rule);
    } else if (!debounce) {
      return onConflict == null ? OnConflict.REFUSE : OnConflict.REPLACE;
    }
    Duration waits = required("quiet", quiet);
    Duration most = required("atMost", atMost);
    if (waits.compareTo(most) > 0) {
      throw ApiException.invalid(
          "quiet",
          "must be at most atMost, which is "
              + most.toMillis()
              + " ms, but was "
              + waits.toMillis()
              + " ms");
    }
    Keep kept = word("keep", keep, Keep.class);
    return OnConflict.debounce(most, kept == null ? Keep.LAST : kept);
  }

  private static Duration required(String field, @Nullable Duration value) {
    if (value == null) {
      throw ApiException.invalid(field, "is missing: a debounce needs quiet and atMost");
    }
    return value;
  }

  private static void onlyForDebounce(String field, @Nullable Object value) {
    if (value != null) {
      throw ApiException.invalid(field, "is only for onConflict=debounce");
    }
  }

  private static <E extends Enum<E>> @Nullable E word(
      String field, @Nullable String given, Class<E> words) {
    if (given == null) {
      return null;
    }
    for (E word : words.getEnumConstants()) {
      if (text(word).equals(given)) {
        return word;
      }
    }
    throw ApiException.invalid(
        field,
        "must be one of "
            + Arrays.stream(words.getEnumConstants())
                .map(ConflictFields::text)
                .collect(Collectors.joining(", ")));
  }

  private static String text(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }
}
