package io.punctual.client.json;

import org.jspecify.annotations.Nullable;

/** Reads and writes what goes over the wire. Two methods, so that any JSON library fits behind. */
public interface Json {

  /**
   * Writes a value.
   *
   * @param value of maps, lists, texts, numbers, booleans and records; null members are written
   */
  byte[] write(Object value);

  /**
   * Reads a value, and ignores members that the type does not have.
   *
   * @param type a record, or {@code Object} for maps, lists, texts, numbers, booleans and null
   * @return null for JSON's null
   * @throws JsonException if the text is no JSON of that type
   */
  <T> @Nullable T read(byte[] text, Class<T> type);

  /**
   * Returns Jackson 3 if it is on the class path, else Jackson 2.
   *
   * @throws IllegalStateException if neither is there
   */
  static Json ofClassPath() {
    try {
      return new Jackson3Json();
    } catch (NoClassDefFoundError noJackson3) {
      try {
        return new Jackson2Json();
      } catch (NoClassDefFoundError e) {
        throw new IllegalStateException(
            "No JSON library was found. Add tools.jackson.core:jackson-databind or"
                + " com.fasterxml.jackson.core:jackson-databind, or set"
                + " PunctualClient.Builder.json",
            e);
      }
    }
  }
}
