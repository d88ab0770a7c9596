package io.punctual.server.console;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON that can be folded.
 *
 * @param name of the field, or the index; empty for the whole
 * @param value as JSON writes it; null where there are children
 * @param kind object, array, string, or other
 */
record ParamsTree(String name, @Nullable String value, String kind, List<ParamsTree> children) {

  private static final int MAX_NODES = 2_000;
  // Numbers as they were written: none of them is rounded on the way to the eye.
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(32).build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** The tree of a text; null if it is no JSON, or nothing to fold, or too much of it. */
  static @Nullable ParamsTree of(String text) {
    String trimmed = text.strip();
    if (!trimmed.startsWith("{") && !trimmed.startsWith("[")) {
      return null;
    }
    try {
      int[] left = {MAX_NODES};
      ParamsTree tree = of("", JSON.readTree(trimmed), left);
      return left[0] > 0 ? tree : null;
    } catch (JacksonException e) {
      return null;
    }
  }

  private static ParamsTree of(String name, JsonNode node, int[] left) {
    if (--left[0] <= 0) {
      return new ParamsTree(name, "", "other", List.of());
    }
    List<ParamsTree> children = new ArrayList<>();
    if (node.isObject()) {
      node.properties().forEach(field -> children.add(of(field.getKey(), field.getValue(), left)));
      return new ParamsTree(name, null, "object", children);
    } else if (node.isArray()) {
      for (JsonNode item : node) {
        children.add(of(Integer.toString(children.size()), item, left));
      }
      return new ParamsTree(name, null, "array", children);
    }
    return new ParamsTree(
        name,
        node.isString() ? "\"" + node.stringValue() + "\"" : node.toString(),
        node.isString() ? "string" : "other",
        children);
  }
}
