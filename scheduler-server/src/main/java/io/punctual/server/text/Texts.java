package io.punctual.server.text;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.EncodedResource;

/**
 * Texts for people in a properties file in English, and in one beside it in Chinese, both in UTF-8:
 * by code, variant and part. A variant that has no text takes that of its code. A placeholder such
 * as <code>{host}</code> stands for a value, or for another text of the file.
 */
public final class Texts {

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([a-z]+)}");

  private final Properties english;
  private final Properties chinese;

  /**
   * Reads the files.
   *
   * @param name of the English one, without {@code .properties}
   * @param beside a class in the package of the files
   */
  public Texts(String name, Class<?> beside) {
    english = read(new Properties(), name + ".properties", beside);
    chinese = read(new Properties(english), name + "_zh.properties", beside);
  }

  private static Properties read(Properties texts, String file, Class<?> beside) {
    try (Reader reader =
        new EncodedResource(new ClassPathResource(file, beside), StandardCharsets.UTF_8)
            .getReader()) {
      texts.load(reader);
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isChinese(Locale locale) {
    return locale.getLanguage().equals(Locale.CHINESE.getLanguage());
  }

  /**
   * Returns a text.
   *
   * @param variant empty for the code's own text
   * @param part {@code message} or {@code remedy}, for instance
   * @param values by placeholder: a {@link Text}, a collection, or anything else. They are not
   *     searched for placeholders, since they may come from outside
   * @return null if there is none
   */
  public @Nullable Text get(String code, String variant, String part, Map<String, ?> values) {
    String name = code + "." + variant + "." + part;
    if (english.getProperty(name) == null) {
      name = code + "." + part;
    }
    return english.getProperty(name) == null ? null : new Text(this, name, Map.copyOf(values));
  }

  /** Returns the text of that name, without values; it is empty if there is none. */
  public Text part(String name) {
    return new Text(this, name, Map.of());
  }

  /**
   * Returns all texts whose names end with this suffix.
   *
   * @param end the suffix, such as {@code ".remedy"}
   * @return the texts, by their names without the suffix
   */
  public Map<String, Text> endingIn(String end) {
    return english.stringPropertyNames().stream()
        .filter(name -> name.endsWith(end))
        .collect(
            Collectors.toMap(name -> name.substring(0, name.length() - end.length()), this::part));
  }

  String fill(String name, Map<String, Object> values, Locale locale) {
    return PLACEHOLDER
        .matcher((isChinese(locale) ? chinese : english).getProperty(name, ""))
        .replaceAll(
            found -> {
              Object value = values.get(found.group(1));
              return Matcher.quoteReplacement(
                  value == null ? fill(found.group(1), values, locale) : shown(value, locale));
            });
  }

  private static String shown(Object value, Locale locale) {
    return switch (value) {
      case Text text -> text.in(locale);
      case Collection<?> some ->
          some.stream()
              .map(one -> shown(one, locale))
              .collect(Collectors.joining(isChinese(locale) ? "、" : ", "));
      default -> value.toString();
    };
  }

  /**
   * Returns values by the names of their placeholders.
   *
   * @param values a name, its value, the next name, and so on
   */
  public static Map<String, Object> values(Object... values) {
    Map<String, Object> placeholders = new HashMap<>();
    for (int i = 0; i < values.length; i += 2) {
      placeholders.put((String) values[i], values[i + 1]);
    }
    return placeholders;
  }
}
