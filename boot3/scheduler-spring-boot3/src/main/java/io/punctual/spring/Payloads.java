package io.punctual.spring;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.punctual.InvalidJobException;
import io.punctual.RejectTaskException;
import java.lang.reflect.Type;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Payloads as texts: a {@link String} as it is, everything else as JSON, by the application's own
 * mapper, of Jackson 2. No name of a Java type is ever written or read.
 */
public final class Payloads {

  private final Supplier<? extends ObjectMapper> source;
  private volatile @Nullable ObjectMapper mapper;

  /**
   * @param source asked when the first payload wants a mapper
   */
  public Payloads(Supplier<? extends ObjectMapper> source) {
    this.source = source;
  }

  /** Returns payloads that the application's mapper reads and writes, if it has one. */
  public static Payloads of(BeanFactory beans) {
    ObjectProvider<ObjectMapper> mapper = beans.getBeanProvider(ObjectMapper.class);
    return new Payloads(() -> mapper.getIfAvailable(Payloads::ownMapper));
  }

  /** Returns payloads that a mapper with the defaults of Spring Boot and Jackson 3 handles. */
  public static Payloads plain() {
    return new Payloads(Payloads::ownMapper);
  }

  /** Returns a mapper with the defaults of Spring Boot and Jackson 3. */
  private static ObjectMapper ownMapper() {
    return JsonMapper.builder()
        .addModule(new JavaTimeModule())
        .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .build();
  }

  /**
   * The text of a payload; empty for null.
   *
   * @throws InvalidJobException if it cannot be written as JSON
   */
  String write(String taskType, @Nullable Object payload) {
    if (payload == null) {
      return "";
    } else if (payload instanceof String text) {
      return text;
    }
    try {
      return mapper().writeValueAsString(payload);
    } catch (JsonProcessingException e) {
      InvalidJobException invalid =
          new InvalidJobException(
              "the payload of a job of type %s, a %s, cannot be written as JSON: %s"
                  .formatted(taskType, payload.getClass().getName(), e.getOriginalMessage()));
      invalid.initCause(e);
      throw invalid;
    }
  }

  /**
   * The payload of a text.
   *
   * @throws RejectTaskException if the text is no JSON of that type: it will not become one
   */
  @Nullable Object read(String params, Type type) {
    ObjectMapper json = mapper();
    try {
      return json.readValue(params, json.constructType(type));
    } catch (JacksonException e) {
      RejectTaskException reject =
          new RejectTaskException(
              "the params are no JSON of %s: %s".formatted(type.getTypeName(), mistake(e)));
      reject.initCause(e);
      throw reject;
    }
  }

  /** What is wrong, and where; not what stands there, as the reason is kept and shown. */
  private static String mistake(JacksonException e) {
    String what;
    String path = "";
    if (e instanceof InvalidFormatException format) {
      what = "what stands there is no " + format.getTargetType().getTypeName();
    } else {
      what = e instanceof JsonMappingException ? e.getOriginalMessage() : "the syntax is wrong";
    }
    if (e instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()) {
      path = ", " + mapping.getPathReference();
    }
    JsonLocation location = e.getLocation();
    return "%s (line %d, column %d%s)"
        .formatted(
            what.replaceAll("\\s+", " "),
            location == null ? -1 : location.getLineNr(),
            location == null ? -1 : location.getColumnNr(),
            path);
  }

  private ObjectMapper mapper() {
    ObjectMapper known = mapper;
    if (known == null) {
      known = source.get();
      mapper = known;
    }
    return known;
  }
}
