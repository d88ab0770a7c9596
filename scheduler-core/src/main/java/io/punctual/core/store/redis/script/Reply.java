package io.punctual.core.store.redis.script;

import io.punctual.core.store.durability.Reached;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A script's answer: a list of texts and of further lists.
 *
 * @param reached where its changes were when it was given
 */
public record Reply(List<?> values, Reached reached) {

  public int size() {
    return values.size();
  }

  public byte[] bytes(int index) {
    return (byte[]) values.get(index);
  }

  public String text(int index) {
    return new String(bytes(index), StandardCharsets.UTF_8);
  }

  /** A word as Java's constants are written. */
  public String word(int index) {
    return text(index).toUpperCase(Locale.ROOT).replace('-', '_');
  }

  public long number(int index) {
    return Long.parseLong(text(index));
  }

  public int small(int index) {
    return Integer.parseInt(text(index));
  }

  /** The number, or null where the script gave an empty text. */
  public @Nullable Long numberOrNull(int index) {
    String text = text(index);
    return text.isEmpty() ? null : Long.valueOf(text);
  }

  public Reply list(int index) {
    return new Reply((List<?>) values.get(index), reached);
  }

  /** The texts from the given place to the end. */
  public List<String> textsFrom(int index) {
    return values.subList(index, values.size()).stream()
        .map(value -> new String((byte[]) value, StandardCharsets.UTF_8))
        .toList();
  }

  /** The lists from the given place to the end. */
  public List<Reply> listsFrom(int index) {
    return values.subList(index, values.size()).stream()
        .map(value -> new Reply((List<?>) value, reached))
        .toList();
  }
}
