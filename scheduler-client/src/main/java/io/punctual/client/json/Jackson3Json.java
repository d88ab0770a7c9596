package io.punctual.client.json;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** JSON by Jackson 3. Its mapper is its own: an application's settings do not reach the wire. */
public final class Jackson3Json implements Json {

  private final JsonMapper mapper = JsonMapper.builder().build();

  @Override
  public byte[] write(Object value) {
    return mapper.writeValueAsBytes(value);
  }

  @Override
  public <T> @Nullable T read(byte[] text, Class<T> type) {
    try {
      return mapper.readValue(text, type);
    } catch (JacksonException e) {
      throw new JsonException(e);
    }
  }
}
