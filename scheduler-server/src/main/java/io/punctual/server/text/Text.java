package io.punctual.server.text;

import java.util.Locale;
import java.util.Map;

/**
 * A text with its values. Readers of Chinese get it in Chinese, all others in English.
 *
 * @param name in the files
 */
public record Text(Texts texts, String name, Map<String, Object> values) {

  /** Returns the text in a language. */
  public String in(Locale locale) {
    return texts.fill(name, values, locale);
  }

  /** Returns the text in English, for logs and programs. */
  @Override
  public String toString() {
    return in(Locale.ENGLISH);
  }
}
