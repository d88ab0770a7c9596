package io.punctual.server.text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;

/**
 * Texts for people in a properties file: by code, variant and part. A variant without a text of its
 * own has that of its code. A placeholder such as <code>{host}</code> stands for a value, or for
 * another text of the file.
 */
public final class Texts {

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([a-z]+)}");

  private final Properties texts;

  /**
   * Reads a file.
   *
   * @param beside a class in the package of the file
   */
  public Texts(String file, Class<?> beside) {
    try {
      texts = PropertiesLoaderUtils.loadProperties(new ClassPathResource(file, beside));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns a text.
   *
   * @param variant empty for the code's own text
   * @param part {@code message} or {@code remedy}
   * @param values by placeholder. They are not searched for placeholders: they may be a stranger's
   * @return null if there is none
   */
  public @Nullable String get(
      String code, String variant, String part, Map<String, String> values) {
    String text = texts.getProperty(code + "." + variant + "." + part);
    if (text == null) {
      text = texts.getProperty(code + "." + part);
    }
    return text == null ? null : fill(text, values);
  }

  /** Returns the text of that name, for others to be made of; empty if there is none. */
  public String part(String name) {
    return texts.getProperty(name, "");
  }

  /**
   * Returns all texts whose names end with this suffix.
   *
   * @param end the suffix, such as {@code ".remedy"}
   * @return the texts, by their names without the suffix
   */
  public Map<String, String> endingIn(String end) {
    return texts.stringPropertyNames().stream()
        .filter(name -> name.endsWith(end))
        .collect(
            Collectors.toMap(name -> name.substring(0, name.length() - end.length()), this::part));
  }

  private String fill(String text, Map<String, String> values) {
    return PLACEHOLDER
        .matcher(text)
        .replaceAll(
            found -> {
              String value = values.get(found.group(1));
              return Matcher.quoteReplacement(
                  value == null ? fill(part(found.group(1)), values) : value);
            });
  }
}
