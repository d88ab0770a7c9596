package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A library that renames a setting ignores the old name without a word. */
class SettingsTest {

  /** Read by conditions, or by clients that are beside the program. */
  private static final List<String> UNDESCRIBED =
      List.of(
          "management.health.",
          "spring.cloud.consul.discovery.catalog-services-watch.",
          "spring.cloud.nacos.");

  @Test
  void eachSettingIsOneThatALibraryDescribes() throws IOException {
    Set<String> known = described();
    assertThat(known).hasSizeGreaterThan(500);
    assertThat(ours().filter(name -> UNDESCRIBED.stream().noneMatch(name::startsWith)))
        .isNotEmpty()
        .allMatch(name -> isKnown(name, known), "is described by a library");
  }

  /** Itself, or the map or list that it is in. */
  private static boolean isKnown(String name, Set<String> known) {
    for (int end = name.length(); end > 0; end = name.lastIndexOf('.', end - 1)) {
      if (known.contains(name.substring(0, end).replaceAll("\\[\\d+]", ""))) {
        return true;
      }
    }
    return false;
  }

  private static Stream<String> ours() throws IOException {
    List<PropertySource<?>> sources =
        new YamlPropertySourceLoader()
            .load("application", new ClassPathResource("application.yml"));
    return sources.stream()
        .map(EnumerablePropertySource.class::cast)
        .flatMap(source -> Stream.of(source.getPropertyNames()));
  }

  private static Set<String> described() throws IOException {
    Set<String> known = new HashSet<>();
    JsonMapper json = new JsonMapper();
    for (URL file :
        Collections.list(
            SettingsTest.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
      try (InputStream in = file.openStream()) {
        for (JsonNode property : json.readTree(in).path("properties")) {
          if (!property.at("/deprecation/level").asString("").equals("error")) {
            known.add(property.get("name").asString());
          }
        }
      }
    }
    return known;
  }
}
