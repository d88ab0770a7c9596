package io.punctual.systemtest;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Finds the directory of a module by its name. */
public final class ModuleDirectory {

  private static final List<String> PARENTS = List.of("", "boot3", "deploy", "examples", "testing");

  private ModuleDirectory() {}

  /** Returns the root directory of the project, as {@code punctual.root} names it. */
  public static Path root() {
    return Path.of(System.getProperty("punctual.root", "../..")).toAbsolutePath().normalize();
  }

  /**
   * Returns the directory of a module.
   *
   * @param module the name of its directory, as in {@code scheduler-server}
   * @throws IllegalArgumentException if there is none
   */
  public static Path of(String module) {
    return PARENTS.stream()
        .map(parent -> root().resolve(parent).resolve(module))
        .filter(directory -> Files.exists(directory.resolve("pom.xml")))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no module " + module + " in " + root()));
  }
}
