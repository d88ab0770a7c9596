package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page of all properties, which is made from their metadata. */
class PropertiesPageTest {

  private static final Path ROOT = ModuleDirectory.root();
  private static final Path PAGE = ROOT.resolve("docs/properties.md");
  private static final Map<String, String> MODULES = new LinkedHashMap<>();

  static {
    MODULES.put("scheduler-spring", "Applications, with either starter");
    MODULES.put("scheduler-test", "Tests of applications, with the test kit");
    MODULES.put("scheduler-server", "The scheduler");
    MODULES.put("eureka-registry", "The registry");
  }

  @Test
  void hasEveryPropertyAndWhatItsMetadataSays() throws Exception {
    String page = page();
    if (Boolean.getBoolean("punctual.docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE))
        .as(
            "docs/properties.md is not what the metadata say; make it anew:"
                + " mvn test -pl testing/system -am -Dtest=PropertiesPageTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dpunctual.docs.write=true")
        .isEqualTo(page);
  }

  private static String page() throws IOException {
    StringBuilder page = new StringBuilder("# Properties\n\n");
    page.append(
        "This page lists every property. `PropertiesPageTest` writes it from the metadata that");
    page.append(" your\neditor uses for completion.\n");
    page.append("Durations are written `500ms`, `30s`, `10m`, `2h`.\n");
    page.append("Task types with a dot stand in brackets:\n\n```properties\n");
    page.append("punctual.concurrency=16\n");
    page.append("punctual.workers.[order.close].concurrency=4\n```\n");
    for (Map.Entry<String, String> module : MODULES.entrySet()) {
      page.append("\n## ").append(module.getValue()).append(" (`").append(module.getKey());
      page.append("`)\n\n| property | type | default | |\n| --- | --- | --- | --- |\n");
      properties(module.getKey())
          .forEach((name, property) -> page.append(row(module.getKey(), name, property)));
    }
    return page.toString();
  }

  private static Map<String, JsonNode> properties(String module) throws IOException {
    Path file =
        ModuleDirectory.of(module)
            .resolve("target/classes/META-INF/spring-configuration-metadata.json");
    Map<String, JsonNode> properties = new TreeMap<>();
    for (JsonNode property : new JsonMapper().readTree(Files.readString(file)).at("/properties")) {
      properties.put(property.at("/name").asString(), property);
    }
    assertThat(properties).as(module).isNotEmpty();
    return properties;
  }

  private static String row(String module, String name, JsonNode property) {
    String description = property.at("/description").asString("");
    assertThat(description).as("%s of %s has no description", name, module).isNotEmpty();
    JsonNode value = property.at("/defaultValue");
    String standard = value.isMissingNode() ? "" : value.asString();
    return "| `%s` | %s | %s | %s |\n"
        .formatted(
            name,
            type(property.at("/type").asString()),
            standard.isEmpty() ? "" : "`" + standard + "`",
            description
                .replaceAll("\\{@(?:code|link) ([^}]*)}", "`$1`")
                .replaceAll("\\s+", " ")
                .replace("|", "\\|"));
  }

  /** What to write there, not what Java makes of it. */
  private static String type(String java) {
    if (java.startsWith("java.util.Map")) {
      return "map";
    }
    if (java.startsWith("java.util.List") || java.startsWith("java.util.Set")) {
      return "list";
    }
    String name = java.substring(Math.max(java.lastIndexOf('.'), java.lastIndexOf('$')) + 1);
    return switch (name) {
      case "Integer", "Long" -> "number";
      case "Boolean", "String", "Duration" -> name.toLowerCase(Locale.ROOT);
      case "Instant" -> "instant";
      default -> "name";
    };
  }
}
