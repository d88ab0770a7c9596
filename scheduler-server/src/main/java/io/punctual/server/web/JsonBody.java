package io.punctual.server.web;

import io.punctual.ErrorCode;
import io.punctual.core.job.Utf8;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import tools.jackson.databind.JsonNode;

/**
 * Reads the body of a request for a parameter with {@link Body}: bounded while reading, UTF-8 and
 * nothing else, and one JSON object, which {@link JsonRecords} binds.
 */
@Component
class JsonBody implements HandlerMethodArgumentResolver, WebMvcConfigurer {

  // Who sends a byte now and then would never be silent for long enough to be given up.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** A large body has more time, at 100 kB a second. */
  private static final long NANOS_PER_BYTE = 10_000;

  // What a body may take before any of it has come.
  private static final int FIRST = 16 * 1024;

  private final WebProperties.Api bounds;

  JsonBody(WebProperties properties) {
    this.bounds = properties.api();
  }

  @Override
  public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
    resolvers.add(this);
  }

  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    return parameter.hasParameterAnnotation(Body.class);
  }

  @Override
  public Object resolveArgument(
      MethodParameter parameter,
      @Nullable ModelAndViewContainer container,
      NativeWebRequest web,
      @Nullable WebDataBinderFactory binders) {
    Body body = Objects.requireNonNull(parameter.getParameterAnnotation(Body.class));
    HttpServletRequest request =
        Objects.requireNonNull(web.getNativeRequest(HttpServletRequest.class));
    return JsonRecords.bind(read(request, body), parameter.getParameterType(), "");
  }

  private JsonNode read(HttpServletRequest request, Body body) {
    if (!body.optional()) {
      requireJson(request);
    }
    Bytes bytes =
        bytes(request, (body.batch() ? bounds.maxBatchBody() : bounds.maxBody()).toBytes());
    if (body.optional()) {
      if (bytes.isEmpty()) {
        return JsonRecords.empty();
      }
      requireJson(request);
    }
    return JsonRecords.parse(text(bytes));
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

  private static Bytes bytes(HttpServletRequest request, long limit) {
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

  private static ApiException tooLarge(long limit) {
    return ApiException.of(ErrorCode.TOO_LARGE, "the body must be at most " + limit + " bytes");
  }

  private static String text(Bytes bytes) {
    try {
      return Utf8.text(bytes.array(), 0, bytes.size());
    } catch (CharacterCodingException e) {
      throw ApiException.invalid("body", "is not valid UTF-8");
    }
  }
}
