package io.punctual.systemtest.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.punctual.systemtest.ModuleDirectory;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The modules as they were compiled, and which of them may know which. */
final class Modules {

  /** What each module may use directly; what that one uses comes with it. */
  private static final Map<String, Set<String>> ARROWS =
      Map.ofEntries(
          Map.entry("scheduler-api", Set.of()),
          Map.entry("scheduler-client", Set.of("scheduler-api")),
          Map.entry("scheduler-core", Set.of("scheduler-api")),
          Map.entry("scheduler-server", Set.of("scheduler-core")),
          Map.entry("scheduler-spring", Set.of("scheduler-client", "scheduler-core")),
          Map.entry("scheduler-plugin-starter", Set.of("scheduler-spring")),
          Map.entry("punctual-amqp", Set.of("scheduler-spring")),
          Map.entry("scheduler-dev-redis", Set.of()),
          Map.entry("eureka-registry", Set.of()),
          Map.entry("demo-order-service", Set.of("scheduler-spring")),
          Map.entry("fixtures", Set.of("scheduler-dev-redis")),
          Map.entry("scheduler-test", Set.of("scheduler-spring")),
          Map.entry("programs", Set.of("scheduler-spring", "scheduler-dev-redis")),
          Map.entry("plain-java", Set.of("scheduler-client")));

  /** Compiled by the full build alone. */
  private static final Set<String> FULL_BUILD = Set.of("plain-java");

  /** Free to use anything: built after this module, or without Java classes. */
  private static final Set<String> FREE =
      Set.of(
          "punctual-bom",
          "benchmarks",
          "demo-order-plugin",
          "kit",
          "kotlin-shop",
          "modulith-shop",
          "nacos-server",
          "quarkus-shop",
          "server",
          "system",
          "worker-boot35",
          "worker-boot40",
          "scheduler-client-starter",
          // The sources of these are those of the modules without boot3 in their names.
          "scheduler-spring-boot3",
          "scheduler-client-starter-boot3",
          "scheduler-test-boot3");

  private final Path root;
  private final JavaClasses classes;
  private final Map<String, String> moduleOf = new TreeMap<>();

  private Modules(Path root) {
    this.root = root;
    List<Path> directories = names().stream().map(this::classesOf).toList();
    // The launcher lies in each program: one of them is enough.
    this.classes =
        new ClassFileImporter()
            .withImportOption(
                location ->
                    location.contains("/scheduler-server/")
                        || !location.contains("/io/punctual/launch/"))
            .importPaths(directories);
    for (JavaClass type : classes) {
      moduleOf.put(type.getName(), moduleOf(type));
    }
  }

  /** Returns the name of the directory that holds the class's {@code target}. */
  private static String moduleOf(JavaClass type) {
    Path file = Path.of(type.getSource().orElseThrow().getUri());
    List<String> names = new ArrayList<>();
    file.forEach(name -> names.add(name.toString()));
    return names.get(names.lastIndexOf("target") - 1);
  }

  static Modules read() {
    return new Modules(ModuleDirectory.root());
  }

  JavaClasses classes() {
    return classes;
  }

  /** How many classes a module has. */
  long size(String module) {
    return moduleOf.values().stream().filter(module::equals).count();
  }

  /** The classes of a module. */
  List<JavaClass> of(String module) {
    return classes.stream().filter(type -> module.equals(moduleOf.get(type.getName()))).toList();
  }

  /** The modules that this build compiled. */
  static Set<String> names() {
    Set<String> names = new TreeSet<>(ARROWS.keySet());
    if (!Boolean.getBoolean("punctual.full-build")) {
      names.removeAll(FULL_BUILD);
    }
    return names;
  }

  /** Every use of a class of a module that the using class's module may not know. */
  List<String> forbidden() {
    List<String> found = new ArrayList<>();
    for (JavaClass type : classes) {
      String from = moduleOf.getOrDefault(type.getName(), "");
      Set<String> allowed = reachable(from);
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        String to = moduleOf.get(dependency.getTargetClass().getBaseComponentType().getName());
        if (to != null && !allowed.contains(to)) {
          found.add(from + " -> " + to + ": " + dependency.getDescription());
        }
      }
    }
    return found;
  }

  /** Directories of the build that hold a module which {@link #ARROWS} does not name. */
  Set<String> unnamed() throws IOException {
    String pom = Files.readString(root.resolve("pom.xml"));
    Set<String> unnamed = new TreeSet<>();
    var matcher = java.util.regex.Pattern.compile("<module>([^<]+)</module>").matcher(pom);
    while (matcher.find()) {
      String module = Path.of(matcher.group(1)).getFileName().toString();
      if (!ARROWS.containsKey(module) && !FREE.contains(module)) {
        unnamed.add(module);
      }
    }
    return unnamed;
  }

  /** The highest class file version of a module; 61 is Java 17, 69 is Java 25. */
  int classFileVersion(String module) {
    try (Stream<Path> files = Files.walk(classesOf(module))) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .mapToInt(Modules::version)
          .max()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The class file version of a class. */
  int classFileVersion(String module, String type) {
    return version(classesOf(module).resolve(type.replace('.', '/') + ".class"));
  }

  private static int version(Path file) {
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      in.skipNBytes(6);
      return in.readUnsignedShort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path classesOf(String module) {
    Path directory = ModuleDirectory.of(module).resolve("target").resolve("classes");
    if (!Files.isDirectory(directory)) {
      throw new IllegalStateException(directory + " is not there; compile " + module + " first");
    }
    return directory;
  }

  private static Set<String> reachable(String module) {
    Set<String> reached = new HashSet<>(Set.of(module));
    ARROWS.getOrDefault(module, Set.of()).forEach(next -> reached.addAll(reachable(next)));
    return reached;
  }
}
