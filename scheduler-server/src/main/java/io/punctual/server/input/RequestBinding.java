package io.punctual.server.input;

import com.fasterxml.jackson.annotation.Nulls;
import io.punctual.ErrorCode;
import io.punctual.core.job.Utf8;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.web.BodyMemoryLimit;
import io.punctual.server.web.RequestGuard;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Parameter;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Binds the body of a request to the record of a parameter with {@link Body}, and its query to that
 * of one with {@link Query}.
 *
 * <p>A parameter of the query is a text, given once, and known to a record. The body is bounded
 * while it is read, and it is UTF-8 and one JSON object. Binding is strict: no field twice, no
 * field that the record does not have, and nothing coerced: a number in quotes is no number ({@link
 * JsonValues}). A field that is null counts as absent. A record gets null for what is absent, and
 * checks its values in its constructor. Errors name the field.
 */
public final class RequestBinding implements HandlerMethodArgumentResolver {

  // Who sends a byte now and then would never be silent for long enough to be given up.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** A large body has more time, at 100 kB a second. */
  private static final long NANOS_PER_BYTE = 10_000;

  // What a body may take before any of it has come.
  private static final int FIRST = 16 * 1024;

  // A batch of a thousand jobs with all headers and tags has some 75,000. As a node, each takes a
  // hundred bytes, however short it is.
  private static final int MAX_TOKENS = 100_000;
  private static final int MAX_SHOWN = 64;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(16)
                          .maxTokenCount(MAX_TOKENS)
                          .maxNumberLength(32)
                          .maxNameLength(256)
                          .maxStringLength(2 * 1024 * 1024)
                          .build())
                  .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          // A number beyond all doubles would be read as infinite.
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .changeDefaultNullHandling(nulls -> nulls.withContentNulls(Nulls.FAIL))
          .addModule(JsonValues.module())
          .build();

  /**
   * The record of an empty query, for each type. All callers share it, so its constructor must not
   * depend on the caller.
   */
  private static final ClassValue<Object> NOTHING_GIVEN =
      new ClassValue<>() {
        @Override
        protected Object computeValue(Class<?> type) {
          return bind(MAPPER.createObjectNode(), type, "");
        }
      };

  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    return parameter.hasParameterAnnotation(Body.class)
        || parameter.hasParameterAnnotation(Query.class);
  }

  @Override
  public Object resolveArgument(
      MethodParameter parameter,
      @Nullable ModelAndViewContainer container,
      NativeWebRequest web,
      @Nullable WebDataBinderFactory binders) {
    HttpServletRequest request =
        Objects.requireNonNull(web.getNativeRequest(HttpServletRequest.class));
    Body body = parameter.getParameterAnnotation(Body.class);
    if (body == null) {
      Class<?> type = parameter.getParameterType();
      return request.getParameterMap().isEmpty()
          ? NOTHING_GIVEN.get(type)
          : bind(query(request), type, "");
    }
    JsonNode json = read(request, body);
    requireKnownQuery(parameter, request);
    return bind(json, parameter.getParameterType(), "");
  }

  private static JsonNode query(HttpServletRequest request) {
    ObjectNode query = MAPPER.createObjectNode();
    request
        .getParameterMap()
        .forEach(
            (name, values) -> {
              if (values.length > 1) {
                throw ApiException.invalid(shown(name), "must not be given twice");
              }
              query.put(name, values[0]);
            });
    return query;
  }

  /** A field in the query by mistake, such as {@code dryRun}, must not be passed over. */
  private static void requireKnownQuery(MethodParameter parameter, HttpServletRequest request) {
    Set<String> given = request.getParameterMap().keySet();
    if (given.isEmpty()) {
      return;
    }
    Set<String> known = new TreeSet<>();
    for (Parameter other : parameter.getExecutable().getParameters()) {
      if (other.isAnnotationPresent(Query.class)) {
        // Its record knows them.
        return;
      }
      RequestParam named = other.getAnnotation(RequestParam.class);
      if (named != null) {
        known.add(named.name().isEmpty() ? other.getName() : named.name());
      }
    }
    for (String name : given) {
      if (!known.contains(name)) {
        throw ApiException.invalid(
            shown(name), "is not known in the query of this call: fields belong in its body");
      }
    }
  }

  private static JsonNode read(HttpServletRequest request, Body body) {
    if (!body.optional()) {
      requireJson(request);
    }
    Bytes bytes =
        bytes(request, body.batch() ? BodyMemoryLimit.MAX_BATCH_BODY : BodyMemoryLimit.MAX_BODY);
    if (body.optional()) {
      if (bytes.isEmpty()) {
        return MAPPER.createObjectNode();
      }
      requireJson(request);
    }
    return parse(text(bytes));
  }

  private static void requireJson(HttpServletRequest request) {
    String encoding = request.getHeader("Content-Encoding");
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE, "compressed bodies are not read; send it as it is");
    }
    boolean json;
    try {
      MediaType type = MediaType.parseMediaType(String.valueOf(request.getContentType()));
      json =
          type.equalsTypeAndSubtype(MediaType.APPLICATION_JSON)
              && (type.getCharset() == null || type.getCharset().equals(StandardCharsets.UTF_8));
    } catch (InvalidMediaTypeException e) {
      json = false;
    }
    if (!json) {
      throw Failures.notJson();
    }
  }

  /** The bytes of a body, which are the first ones of an array. */
  private record Bytes(byte[] array, int size) {

    boolean isEmpty() {
      return size == 0;
    }
  }

  private static Bytes bytes(HttpServletRequest request, int limit) {
    long announced = request.getContentLengthLong();
    if (announced > limit) {
      throw tooLarge(limit);
    }
    try {
      InputStream in = request.getInputStream();
      // One more than is announced, since the end is to be read as well.
      byte[] array = new byte[announced < 0 ? FIRST : (int) Math.min(announced + 1, FIRST)];
      long begin = System.nanoTime();
      long size = 0;
      int kept = 0;
      boolean held = true;
      for (int count = in.read(array); count >= 0; ) {
        size += count;
        if (size > limit) {
          throw tooLarge(limit);
        }
        if (held && !BodyMemoryLimit.hold(request, count)) {
          // The rest is read all the same: while it is sent, hardly any client reads an answer.
          held = false;
          kept = 0;
          array = new byte[FIRST];
        }
        if (held) {
          kept += count;
        }
        if (System.nanoTime() - begin > PATIENCE.toNanos() + size * NANOS_PER_BYTE) {
          RequestGuard.drop(request);
          throw ApiException.of(
              ErrorCode.INVALID,
              "the body did not arrive within " + PATIENCE.toSeconds() + " s; send it faster");
        }
        if (kept == array.length) {
          array = Arrays.copyOf(array, 2 * kept);
        }
        count = in.read(array, kept, array.length - kept);
      }
      if (!held) {
        throw BodyMemoryLimit.refusal();
      }
      return new Bytes(array, kept);
    } catch (IOException | IllegalStateException e) {
      // The latter where a chunked body has too many trailers.
      RequestGuard.drop(request);
      throw ApiException.of(ErrorCode.INVALID, "the body ended before it was whole");
    }
  }

  private static ApiException tooLarge(int limit) {
    return ApiException.of(ErrorCode.TOO_LARGE, "the body must be at most " + limit + " bytes");
  }

  private static String text(Bytes bytes) {
    try {
      return Utf8.text(bytes.array(), 0, bytes.size());
    } catch (CharacterCodingException e) {
      throw ApiException.invalid("body", "is not valid UTF-8");
    }
  }

  /**
   * Parses one JSON document.
   *
   * @throws ApiException 400
   */
  private static JsonNode parse(String text) {
    if (text.isBlank()) {
      throw ApiException.invalid("body", "is empty; it must be a JSON object");
    }
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      String where =
          e.getLocation() == null
              ? ""
              : String.format(
                  Locale.ROOT,
                  " at line %d, column %d",
                  e.getLocation().getLineNr(),
                  e.getLocation().getColumnNr());
      throw ApiException.invalid("body", "is not valid JSON" + where + ": " + reason(e));
    }
  }

  private static String reason(JacksonException e) {
    String message = String.valueOf(e.getOriginalMessage());
    String line = message.lines().findFirst().orElse("").replaceAll("\\p{Cntrl}", "?");
    // What could be switched on in the library is nothing to a caller.
    line =
        line.replaceAll(
            " (\\(bound as|for `ObjectNode`|\\(not recognized as one since).*|: enable `.*", "");
    line = line.replaceAll(", from `[^`]*`", "");
    line = line.replaceAll("\\[Source: [^;\\]]*; (line: \\d+, column: \\d+)\\]", "$1");
    line = line.replaceAll("\\(?`?(tools|com|java)\\.[\\w.$]+[`)]?(\\([^)]*\\))?", "").strip();
    return line.length() > 200 ? line.substring(0, 200) + "..." : line;
  }

  /**
   * Binds an object to a record.
   *
   * @param path where the object stands in the body, for instance {@code jobs[3]}; empty for the
   *     body itself
   * @throws ApiException 400 that names the field, or what the record's constructor throws
   */
  public static <T> T bind(JsonNode json, Class<T> type, String path) {
    if (!json.isObject()) {
      throw ApiException.invalid(path.isEmpty() ? "body" : path, "must be a JSON object");
    }
    if (type.isInstance(json)) {
      // Jackson would copy it.
      return type.cast(json);
    }
    try {
      return MAPPER.treeToValue(json, type);
    } catch (JacksonException e) {
      throw translate(e).within(path);
    }
  }

  private static ApiException translate(JacksonException e) {
    String field = field(e);
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ApiException known) {
        return known.within(field);
      }
    }
    if (e instanceof UnrecognizedPropertyException unknown) {
      return known(field, unknown.getKnownPropertyIds().stream().map(Object::toString).toList());
    }
    Class<?> type = e instanceof MismatchedInputException wrong ? wrong.getTargetType() : null;
    return ApiException.invalid(field, type == null ? "cannot be read" : expected(type));
  }

  /** The error for a field that an object must not have. */
  public static ApiException unknown(String field, Collection<String> known) {
    return known(shown(field), known);
  }

  private static ApiException known(String field, Collection<String> known) {
    return ApiException.invalid(
        field, "is not known here; known are " + String.join(", ", new TreeSet<>(known)));
  }

  private static String expected(Class<?> type) {
    if (Collection.class.isAssignableFrom(type)) {
      return "must be a list, in square brackets";
    } else if (Map.class.isAssignableFrom(type)) {
      return "must be a JSON object whose values are texts in quotes";
    }
    return type == String.class ? "must be a text in quotes" : "must be a JSON object";
  }

  private static String field(JacksonException e) {
    StringBuilder field = new StringBuilder();
    for (JacksonException.Reference part : e.getPath()) {
      String name = part.getPropertyName();
      if (name == null) {
        field.append('[').append(part.getIndex()).append(']');
      } else {
        field.append(field.isEmpty() ? "" : ".").append(shown(name));
      }
    }
    return field.toString();
  }

  static String shown(String name) {
    String shown = name.length() > MAX_SHOWN ? name.substring(0, MAX_SHOWN) + "..." : name;
    return shown.replaceAll("[^\\x20-\\x7e]", "?");
  }
}
