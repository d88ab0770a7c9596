package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.systemtest.guide.first.FirstShop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The application of docs/first-job.md with its starter for Spring Boot 4, on a real Spring Boot 3.
 */
@Tag("full")
class OlderSpringBootIT {

  @Test
  void onSpringBoot3TheStartEndsWithASentence() throws Exception {
    String version = ScratchProject.required("punctual.spring-boot3.version");
    ScratchProject project = ScratchProject.of("older-boot", Map.of("pom.xml", pom(version)));
    project.maven(
        ScratchProject.dependencyPlugin("build-classpath"), "-Dmdep.outputFile=target/classpath");
    String older =
        Files.readString(project.directory().resolve("target").resolve("classpath")).strip();

    String classPath = classes() + ":" + older + ":" + starter(older);
    try (JavaProcess shop =
        PROGRAMS
            .foreign(
                Path.of(System.getProperty("java.home")),
                project.directory(),
                "shop-on-older-boot",
                List.of("-cp", classPath, FirstShop.class.getName()),
                Ports.free())
            .start()) {
      shop.awaitLog("With Spring Boot 3.5, use scheduler-client-starter-boot3.");
      assertThat(Files.readString(shop.log()))
          .contains("APPLICATION FAILED TO START")
          .contains(
              "This starter of Punctual is for Spring Boot 4; this application runs on Spring Boot "
                  + version
                  + ".");
    }
  }

  private static String pom(String version) {
    return """
    <?xml version="1.0" encoding="UTF-8"?>
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>com.example</groupId>
      <artifactId>older-boot</artifactId>
      <version>1</version>
      <packaging>pom</packaging>
      <dependencies>
        <dependency>
          <groupId>org.springframework.boot</groupId>
          <artifactId>spring-boot-starter-web</artifactId>
          <version>%s</version>
        </dependency>
      </dependencies>
    </project>
    """
        .formatted(version);
  }

  private static String classes() throws Exception {
    return Path.of(FirstShop.class.getProtectionDomain().getCodeSource().getLocation().toURI())
        .toString();
  }

  /** The starter and what it brings; where both have something, the application's is taken. */
  private static String starter(String older) throws IOException {
    Set<String> taken =
        Stream.of(older.split(":"))
            .map(jar -> name(Path.of(jar)))
            // Another one than Spring Boot 4's, of the same name.
            .filter(name -> !name.startsWith("jackson-"))
            .collect(Collectors.toSet());
    List<String> jars = new ArrayList<>();
    Path lib = ModuleDirectory.root().resolve("demo-order-service/target/lib");
    try (Stream<Path> files = Files.list(lib)) {
      files.filter(jar -> !taken.contains(name(jar))).map(Path::toString).forEach(jars::add);
    }
    assertThat(jars).anyMatch(jar -> jar.contains("scheduler-client-starter-"));
    return String.join(":", jars);
  }

  private static String name(Path jar) {
    return jar.getFileName().toString().replaceFirst("-\\d.*", "");
  }
}
