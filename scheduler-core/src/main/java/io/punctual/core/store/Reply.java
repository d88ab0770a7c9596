package io.punctual.core.store;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A script's answer: a list of texts and of further lists.
 *
 * @param reached where its changes were when it was given
 */
record Reply(List<?> values, Reached reached) {

  int size() {
    return values.size();
  }

  byte[] bytes(int index) {
    return (byte[]) values.get(index);
  }

  String text(int index) {
    return new String(bytes(index), StandardCharsets.UTF_8);
  }

  /** A word as Java's constants are written. */
  String word(int index) {
    return text(index).toUpperCase(Locale.ROOT).replace('-', '_');
  }

  long number(int index) {
    return Long.parseLong(text(index));
  }

  int small(int index) {
    return Integer.parseInt(text(index));
  }

  /** The number, or null where the script gave an empty text. */
  @Nullable Long numberOrNull(int index) {
    String text = text(index);
    return text.isEmpty() ? null : Long.valueOf(text);
  }

  Reply list(int index) {
    return new Reply((List<?>) values.get(index), reached);
  }

  /** The texts from the given place to the end. */
  List<String> textsFrom(int index) {
    return values.subList(index, values.size()).stream()
        .map(value -> new String((byte[]) value, StandardCharsets.UTF_8))
        .toList();
  }

  /** The lists from the given place to the end. */
  List<Reply> listsFrom(int index) {
    return values.subList(index, values.size()).stream()
        .map(value -> new Reply((List<?>) value, reached))
        .toList();
  }
}
