package io.punctual.test.model;

import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Any result as one text, byte arrays included, so that results can be compared and read. */
final class Shown {

  private Shown() {}

  static String text(@Nullable Object value) {
    if (value instanceof byte[] bytes) {
      return "'" + new String(bytes, StandardCharsets.UTF_8) + "'";
    }
    if (value instanceof Optional<?> optional) {
      return optional.map(Shown::text).orElse("none");
    }
    if (value instanceof java.util.Set<?> set) {
      return new TreeSet<>(set).toString();
    }
    if (value instanceof Collection<?> items) {
      return items.stream().map(Shown::text).toList().toString();
    }
    if (value instanceof Map<?, ?> map) {
      return new TreeMap<>(map).toString();
    }
    if (value instanceof Record) {
      StringBuilder text = new StringBuilder(value.getClass().getSimpleName()).append('(');
      try {
        for (RecordComponent component : value.getClass().getRecordComponents()) {
          component.getAccessor().setAccessible(true);
          text.append(component.getName())
              .append('=')
              .append(text(component.getAccessor().invoke(value)))
              .append(' ');
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
      return text.append(')').toString();
    }
    return String.valueOf(value);
  }
}
