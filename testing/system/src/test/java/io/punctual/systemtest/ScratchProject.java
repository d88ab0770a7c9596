package io.punctual.systemtest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An application of somebody else, in a directory of its own. Maven builds it: the one that runs
 * this build, with a local repository that has nothing but what was installed there, and with this
 * build's own local repository in the place of Maven Central. So it needs no network, touches
 * nobody's files, and takes no version that this build has not tested.
 */
final class ScratchProject {

  private static final long PATIENCE_S = 300;
  private static final Path REPOSITORY = Path.of("target", "first-steps", "repository");

  private final Path directory;

  private ScratchProject(Path directory) {
    this.directory = directory;
  }

  /**
   * Writes the files.
   *
   * @param files what is in them, by their path
   */
  static ScratchProject of(String name, Map<String, String> files) throws IOException {
    Path directory = Path.of("target", "first-steps", name).toAbsolutePath();
    for (Map.Entry<String, String> file : files.entrySet()) {
      Path path = directory.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.getValue());
    }
    return new ScratchProject(directory);
  }

  /** Where it is. */
  Path directory() {
    return directory;
  }

  /**
   * Builds.
   *
   * @param goals and options
   * @throws IllegalStateException if the build fails
   */
  void maven(String... goals) throws IOException {
    Path log = directory.resolve("maven.log");
    Path settings = directory.resolve("settings.xml");
    Files.writeString(settings, settings());
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(required("punctual.maven.home"), "bin", "mvn").toString(),
                "--batch-mode",
                "--settings",
                settings.toString(),
                "--global-settings",
                settings.toString(),
                "--file",
                directory.resolve("pom.xml").toString()));
    command.addAll(List.of(goals));
    ProcessBuilder maven =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    // Maven itself may run on a Java without a compiler; the one of the tests has it.
    maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
    maven.environment().put("MAVEN_OPTS", "-Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    maven.environment().put("MAVEN_SKIP_RC", "true");
    maven.environment().remove("MAVEN_ARGS");
    Process process = maven.start();
    try {
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
        throw new IllegalStateException("Maven does not end; its log: " + log);
      } else if (process.exitValue() != 0) {
        throw new IllegalStateException(
            "Maven cannot build it; its log: " + log + "\n" + Files.readString(log));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * A goal of the dependency plugin, of the version that this build uses: Maven's own default may
   * not be in the local repository.
   */
  static String dependencyPlugin(String goal) {
    return "org.apache.maven.plugins:maven-dependency-plugin:"
        + required("punctual.dependency-plugin.version")
        + ":"
        + goal;
  }

  private static String settings() {
    String repository =
        """
        <id>central</id>
        <url>%s</url>
        <snapshots>
          <enabled>false</enabled>
        </snapshots>
        """
            .formatted(Path.of(required("punctual.maven.repository")).toUri());
    return """
        <settings>
          <localRepository>%s</localRepository>
          <profiles>
            <profile>
              <id>no-network</id>
              <repositories>
                <repository>
                  %2$s
                </repository>
              </repositories>
              <pluginRepositories>
                <pluginRepository>
                  %2$s
                </pluginRepository>
              </pluginRepositories>
            </profile>
          </profiles>
          <activeProfiles>
            <activeProfile>no-network</activeProfile>
          </activeProfiles>
        </settings>
        """
        .formatted(REPOSITORY.toAbsolutePath(), repository);
  }

  /** What Maven tells the tests. */
  static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalStateException(
          property + " is not set; run this test by Maven: mvn verify -pl testing/system -am");
    }
    return value;
  }
}
