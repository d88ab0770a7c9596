package io.punctual.spring;

import io.punctual.InvalidJobException;
import io.punctual.RejectTaskException;
import java.lang.reflect.Type;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payloads as texts: a {@link String} as it is, everything else as JSON, by the application's own
 * mapper. No name of a Java type is ever written or read.
 */
public final class Payloads {

  private final Supplier<JsonMapper> source;
  private volatile @Nullable JsonMapper mapper;

  /**
   * @param source asked when the first payload wants a mapper
   */
  public Payloads(Supplier<JsonMapper> source) {
    this.source = source;
  }

  /** Returns payloads that the application's mapper reads and writes, if it has one. */
  public static Payloads of(BeanFactory beans) {
    ObjectProvider<JsonMapper> mapper = beans.getBeanProvider(JsonMapper.class);
    return new Payloads(() -> mapper.getIfAvailable(JsonMapper::new));
  }

  /** Returns payloads that a mapper with Jackson's defaults reads and writes. */
  public static Payloads plain() {
    return new Payloads(JsonMapper::new);
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
    } catch (JacksonException e) {
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
    JsonMapper json = mapper();
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
    if (e instanceof InvalidFormatException format) {
      what = "what stands there is no " + format.getTargetType().getTypeName();
    } else {
      what = e instanceof DatabindException ? e.getOriginalMessage() : "the syntax is wrong";
    }
    TokenStreamLocation location = e.getLocation();
    return "%s (line %d, column %d%s)"
        .formatted(
            what.replaceAll("\\s+", " "),
            location.getLineNr(),
            location.getColumnNr(),
            e.getPath().isEmpty() ? "" : ", " + e.getPathReference());
  }

  private JsonMapper mapper() {
    JsonMapper known = mapper;
    if (known == null) {
      known = source.get();
      mapper = known;
    }
    return known;
  }
}
