package io.punctual.systemtest.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The packages of a module and what each may know, as docs/architecture.md lists them. */
class PackagesTest {

  private static final String ROOT = "(root)";
  private static final int MOST_FILES = 25;
  private static final Modules MODULES = Modules.read();
  private static final Pattern ROW =
      Pattern.compile("^\\| `?([^|`]+?)`? \\|[^|]+\\|([^|]*)\\|$", Pattern.MULTILINE);
  private static final Pattern STATION =
      Pattern.compile("^\\| \\d \\| `(\\w+\\.\\w+)` \\|", Pattern.MULTILINE);

  private enum Module {
    API("scheduler-api", "io.punctual"),
    ENGINE("scheduler-core", "io.punctual.core"),
    SERVER("scheduler-server", "io.punctual.server");

    private final String directory;
    private final String root;
    private final Set<JavaClass> types;

    Module(String directory, String root) {
      this.directory = directory;
      this.root = root;
      // The launcher lies in the server, too.
      this.types =
          MODULES.of(directory).stream()
              .filter(type -> (type.getPackageName() + ".").startsWith(root + "."))
              .collect(Collectors.toUnmodifiableSet());
    }

    private String name(JavaClass type) {
      String name = type.getPackageName();
      return name.equals(root) ? ROOT : name.substring(root.length() + 1);
    }

    private Map<String, Set<String>> compiled() {
      Map<String, Set<String>> known = new TreeMap<>();
      for (JavaClass type : types) {
        Set<String> others = known.computeIfAbsent(name(type), name -> new TreeSet<>());
        type.getDirectDependenciesFromSelf().stream()
            .map(Dependency::getTargetClass)
            .map(JavaClass::getBaseComponentType)
            .filter(types::contains)
            .map(this::name)
            .filter(other -> !other.equals(name(type)))
            .forEach(others::add);
      }
      return known;
    }

    private Map<String, Set<String>> documented() throws IOException {
      String page = Files.readString(ModuleDirectory.root().resolve("docs/architecture.md"));
      int start = page.toUpperCase(Locale.ROOT).indexOf("\n## PACKAGES OF THE " + name());
      assertThat(start).isPositive();
      String section = page.substring(start, page.indexOf("\n## ", start + 1));
      Map<String, Set<String>> known = new TreeMap<>();
      Matcher row = ROW.matcher(section);
      while (row.find()) {
        String name = row.group(1).strip();
        if (!name.equals("package") && !name.startsWith("---")) {
          known.put(
              name,
              Arrays.stream(row.group(2).replace("`", "").split(","))
                  .map(String::strip)
                  .filter(other -> !other.isEmpty())
                  .collect(Collectors.toCollection(TreeSet::new)));
        }
      }
      return known;
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachPackageKnowsWhatThePageSaysAndNoOther(Module module) throws IOException {
    assertThat(module.compiled()).isEqualTo(module.documented());
  }

  /** The page says by which rule they are counted. */
  @Test
  void aSubmitPassesNineStationsOfTheServer() throws IOException {
    String page = Files.readString(ModuleDirectory.root().resolve("docs/architecture.md"));
    List<String> stations =
        STATION
            .matcher(page)
            .results()
            .map(row -> Module.SERVER.root + "." + row.group(1))
            .toList();
    assertThat(stations).hasSizeBetween(1, 9).doesNotHaveDuplicates();
    assertThat(Modules.read().classes()).extracting(JavaClass::getName).containsAll(stations);
  }

  /** Each package comes after those that it knows, so that there is no circle. */
  @ParameterizedTest
  @EnumSource
  void packagesAreFreeOfCircles(Module module) {
    Map<String, Set<String>> left = module.compiled();
    while (!left.isEmpty()) {
      Set<String> free =
          left.entrySet().stream()
              .filter(entry -> entry.getValue().stream().noneMatch(left::containsKey))
              .map(Map.Entry::getKey)
              .collect(Collectors.toSet());
      assertThat(free).as("packages that know none of %s", left.keySet()).isNotEmpty();
      left.keySet().removeAll(free);
    }
  }

  @Test
  void noPackageIsTooLargeToReadInOneGo() throws IOException {
    Map<Path, Long> large = new TreeMap<>();
    for (String module : Modules.names()) {
      try (Stream<Path> sources = Files.walk(ModuleDirectory.of(module).resolve("src/main/java"))) {
        sources
            .filter(file -> file.toString().endsWith(".java"))
            .collect(Collectors.groupingBy(Path::getParent, Collectors.counting()))
            .forEach(large::put);
      }
    }
    large.values().removeIf(files -> files <= MOST_FILES);
    assertThat(large).isEmpty();
  }
}
