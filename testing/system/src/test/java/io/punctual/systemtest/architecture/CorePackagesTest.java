package io.punctual.systemtest.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages of the engine and what each may know, as docs/architecture.md lists them. */
class CorePackagesTest {

  private static final String CORE = "io.punctual.core";
  private static final String ROOT = "(root)";
  private static final int MOST_FILES = 25;
  private static final Pattern ROW =
      Pattern.compile("^\\| `?([^|`]+?)`? \\|[^|]+\\|([^|]*)\\|$", Pattern.MULTILINE);

  @Test
  void eachPackageKnowsWhatThePageSaysAndNoOther() throws IOException {
    assertThat(compiled()).isEqualTo(documented());
  }

  /** Each package comes after those that it knows, so that there is no circle. */
  @Test
  void packagesAreFreeOfCircles() {
    Map<String, Set<String>> left = compiled();
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
    Map<String, Long> large = new TreeMap<>();
    try (Stream<Path> sources =
        Files.walk(ModuleDirectory.of("scheduler-core").resolve("src/main/java"))) {
      sources
          .filter(file -> file.toString().endsWith(".java"))
          .collect(Collectors.groupingBy(Path::getParent, Collectors.counting()))
          .forEach((directory, files) -> large.put(directory.toString(), files));
    }
    large.values().removeIf(files -> files <= MOST_FILES);
    assertThat(large).isEmpty();
  }

  private static Map<String, Set<String>> compiled() {
    Map<String, Set<String>> known = new TreeMap<>();
    for (JavaClass type : Modules.read().classes()) {
      if (!isCore(type)) {
        continue;
      }
      Set<String> others = known.computeIfAbsent(name(type), name -> new TreeSet<>());
      type.getDirectDependenciesFromSelf().stream()
          .map(Dependency::getTargetClass)
          .map(JavaClass::getBaseComponentType)
          .filter(CorePackagesTest::isCore)
          .map(CorePackagesTest::name)
          .filter(other -> !other.equals(name(type)))
          .forEach(others::add);
    }
    return known;
  }

  private static Map<String, Set<String>> documented() throws IOException {
    String page =
        Files.readString(ModuleDirectory.root().resolve("docs").resolve("architecture.md"));
    int start = page.indexOf("## Packages of the engine");
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

  private static boolean isCore(JavaClass type) {
    return type.getPackageName().equals(CORE) || type.getPackageName().startsWith(CORE + ".");
  }

  private static String name(JavaClass type) {
    String name = type.getPackageName();
    return name.equals(CORE) ? ROOT : name.substring(CORE.length() + 1);
  }
}
