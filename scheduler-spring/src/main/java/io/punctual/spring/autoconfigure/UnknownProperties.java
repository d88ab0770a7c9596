package io.punctual.spring.autoconfigure;

import io.punctual.internal.KnownProperties;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.json.JsonParseException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

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
    } catch (IOException | JsonParseException e) {
      log.debug("The names of Punctual's properties cannot be read", e);
    }
    if (!unknown.isEmpty()) {
      log.warn(
          "Punctual: these properties are unknown and have no effect: {}. docs/properties.md lists"
              + " all of them.",
          String.join(", ", unknown));
    }
  }

  private static Map<String, String> read(InputStream metadata) throws IOException {
    String text = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
    Map<String, String> types = new HashMap<>();
    if (JsonParserFactory.getJsonParser().parseMap(text).get("properties")
        instanceof List<?> properties) {
      for (Object property : properties) {
        if (property instanceof Map<?, ?> members) {
          types.put(text(members, "name"), text(members, "type"));
        }
      }
    }
    return types;
  }

  private static String text(Map<?, ?> members, String name) {
    return members.get(name) instanceof String text ? text : "";
  }
}
