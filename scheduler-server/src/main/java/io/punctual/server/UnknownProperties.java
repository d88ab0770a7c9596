package io.punctual.server;

import io.punctual.internal.KnownProperties;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Warns of properties below {@code punctual.} that no jar has in its metadata. Before beans are
 * made: a start may fail for what was misspelt.
 */
final class UnknownProperties
    implements ApplicationContextInitializer<ConfigurableApplicationContext> {

  private static final Logger log = LoggerFactory.getLogger(UnknownProperties.class);

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    ClassLoader classLoader = context.getClassLoader();
    warn(
        context.getEnvironment(),
        classLoader == null ? UnknownProperties.class.getClassLoader() : classLoader);
  }

  static void warn(ConfigurableEnvironment environment, ClassLoader classLoader) {
    Set<String> unknown = new TreeSet<>();
    try {
      KnownProperties known = KnownProperties.of(classLoader, UnknownProperties::read);
      for (PropertySource<?> source : environment.getPropertySources()) {
        if (source instanceof EnumerablePropertySource<?> names) {
          boolean variables = source instanceof SystemEnvironmentPropertySource;
          for (String name : names.getPropertyNames()) {
            known.describeUnknown(name, variables).ifPresent(unknown::add);
          }
        }
      }
    } catch (IOException | JacksonException e) {
      log.debug("The names of Punctual's properties cannot be read", e);
    }
    if (!unknown.isEmpty()) {
      log.warn(
          "Punctual: these properties are unknown and have no effect: {}. docs/properties.md lists"
              + " all of them.",
          String.join(", ", unknown));
    }
  }

  private static Map<String, String> read(InputStream metadata) {
    Map<String, String> types = new HashMap<>();
    for (JsonNode property : JsonMapper.shared().readTree(metadata).path("properties")) {
      types.put(property.path("name").asString(""), property.path("type").asString(""));
    }
    return types;
  }
}
