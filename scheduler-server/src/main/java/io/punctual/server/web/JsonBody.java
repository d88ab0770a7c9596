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
import java.util.Locale;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a request's body as strict JSON: bounded while reading, UTF-8 and nothing else, one
 * document, no field twice.
 */
public final class JsonBody {

  // A batch of a thousand jobs with all headers and tags has some 75,000. As a node, each takes a
  // hundred bytes, however short it is.
  private static final int MAX_TOKENS = 100_000;

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
          .build();

  // Who sends a byte now and then would never be silent for long enough to be given up.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** A large body has more time, at 100 kB a second. */
  private static final long NANOS_PER_BYTE = 10_000;

  // What a body may take before any of it has come.
  private static final int FIRST = 16 * 1024;

  private JsonBody() {}

  /**
   * Reads the body, which must be a JSON object.
   *
   * @param limit most bytes
   */
  public static JsonFields read(HttpServletRequest request, long limit) {
    requireJson(request);
    return JsonFields.of(parse(text(bytes(request, limit))), "");
  }

  /** As {@link #read}; no body at all is an object without fields. */
  public static JsonFields readOptional(HttpServletRequest request, long limit) {
    Bytes bytes = bytes(request, limit);
    if (bytes.isEmpty()) {
      return JsonFields.of(MAPPER.createObjectNode(), "");
    }
    requireJson(request);
    return JsonFields.of(parse(text(bytes)), "");
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
    line = line.replaceAll("\\(?`?(tools|com|java)\\.[\\w.$]+[`)]?(\\([^)]*\\))?", "").strip();
    return line.length() > 200 ? line.substring(0, 200) + "..." : line;
  }
}
