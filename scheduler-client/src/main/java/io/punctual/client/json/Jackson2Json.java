package io.punctual.client.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** JSON by Jackson 2, as strict as Jackson 3 is by default. */
public final class Jackson2Json implements Json {

  private final JsonMapper mapper =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  @Override
  public byte[] write(Object value) {
    try {
      return mapper.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new JsonException(e);
    }
  }

  @Override
  public <T> @Nullable T read(byte[] text, Class<T> type) {
    try {
      return mapper.readValue(text, type);
    } catch (IOException e) {
      throw new JsonException(e);
    }
  }
}
