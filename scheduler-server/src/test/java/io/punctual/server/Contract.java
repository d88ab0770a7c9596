package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The OpenAPI document, to which every answer that a test gets is held. */
final class Contract {

  private static final JsonNode DOCUMENT = read();
  private static final SchemaRegistry SCHEMAS =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
  private static final Map<String, Schema> KNOWN = new ConcurrentHashMap<>();

  private Contract() {}

  private static JsonNode read() {
    try (InputStream in = Contract.class.getResourceAsStream("/io/punctual/server/openapi.yaml")) {
      return new YAMLMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every operation as method and path. */
  static Set<String> operations() {
    Set<String> operations = new TreeSet<>();
    DOCUMENT
        .get("paths")
        .properties()
        .forEach(
            path ->
                path.getValue().propertyNames().stream()
                    .filter(name -> !name.equals("parameters"))
                    .forEach(
                        method ->
                            operations.add(
                                method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey())));
    return operations;
  }

  /** Checks an answer of a call that the document knows; others are left alone. */
  static void check(String method, String path, Answer answer) {
    if (path.startsWith("/actuator/") || path.replace("%6f", "o").startsWith("/console")) {
      // Spring Boot's, and people's; not of the document.
      return;
    }
    JsonNode operation = operation(method, path);
    if (operation == null) {
      assertThat(answer.status())
          .as("%s %s succeeds and is not in the document", method, path)
          .isGreaterThanOrEqualTo(400);
      return;
    }
    JsonNode responses = operation.get("responses");
    String status = Integer.toString(answer.status());
    JsonNode response = responses.has(status) ? responses.get(status) : responses.get("default");
    assertThat(answer.status() >= 400 || responses.has(status))
        .as("%s %s may answer %s", method, path, status)
        .isTrue();
    if (response.has("$ref")) {
      response = DOCUMENT.at(response.get("$ref").stringValue().substring(1));
    }
    JsonNode content = response.get("content");
    if (content == null) {
      assertThat(answer.text()).isEmpty();
      return;
    }
    Map.Entry<String, JsonNode> only = content.properties().iterator().next();
    assertThat(answer.contentType()).startsWith(only.getKey());
    if (only.getKey().endsWith("json")) {
      var errors = schema(only.getValue().get("schema")).validate(answer.body());
      assertThat(errors).as("%s %s: %s", method, path, answer.text()).isEmpty();
    }
  }

  /** Checks that a request that was taken has all parameters that the document requires. */
  static void checkQuery(String method, URI uri) {
    JsonNode operation = operation(method, uri.getRawPath());
    for (JsonNode parameter :
        operation == null ? List.<JsonNode>of() : operation.path("parameters")) {
      if (parameter.path("required").asBoolean(false)) {
        assertThat("&" + uri.getRawQuery())
            .as("%s %s", method, uri)
            .contains("&" + parameter.get("name").stringValue() + "=");
      }
    }
  }

  /** Checks a request that was taken. */
  static void checkRequest(String method, String path, JsonNode body) {
    JsonNode operation = operation(method, path);
    assertThat(operation).as("%s %s", method, path).isNotNull();
    if (operation != null) {
      JsonNode schema = operation.at("/requestBody/content/application~1json/schema");
      assertThat(schema(schema).validate(body)).as("%s %s: %s", method, path, body).isEmpty();
    }
  }

  private static @Nullable JsonNode operation(String method, String path) {
    for (Map.Entry<String, JsonNode> known : DOCUMENT.get("paths").properties()) {
      String pattern = Pattern.quote(known.getKey()).replaceAll("\\{[A-Za-z]+}", "\\\\E[^/]+\\\\Q");
      if (path.matches(pattern)) {
        JsonNode operation = known.getValue().get(method.toLowerCase(java.util.Locale.ROOT));
        // The literal path before the pattern that would take it, too.
        if (operation != null) {
          return operation;
        }
      }
    }
    return null;
  }

  private static Schema schema(JsonNode schema) {
    return KNOWN.computeIfAbsent(
        schema.toString(),
        text -> {
          ObjectNode root = (ObjectNode) schema.deepCopy();
          root.set("components", DOCUMENT.get("components"));
          return SCHEMAS.getSchema(root);
        });
  }
}
