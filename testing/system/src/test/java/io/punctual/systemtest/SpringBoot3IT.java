package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** Instances on Spring Boot 3.5 that are registered in Eureka. */
@Tag("full")
class SpringBoot3IT extends RegistryContract {

  private List<Path> libraries = List.of();

  @Override
  JavaProcess startRegistry() {
    try {
      libraries = libraries();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return PROGRAMS.registry().start().awaitReady();
  }

  /** As Maven finds them for an application on Spring Boot 3.5 with the starter for it. */
  private static List<Path> libraries() throws IOException {
    ScratchProject project = ScratchProject.of("spring-boot-3-worker", Map.of("pom.xml", pom()));
    project.maven(
        ScratchProject.dependencyPlugin("build-classpath"), "-Dmdep.outputFile=target/classpath");
    String found =
        Files.readString(project.directory().resolve("target").resolve("classpath")).strip();
    return Stream.of(found.split(File.pathSeparator)).map(Path::of).toList();
  }

  private static String pom() {
    return """
    <?xml version="1.0" encoding="UTF-8"?>
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <parent>
        <groupId>org.springframework.boot</groupId>
        <artifactId>spring-boot-starter-parent</artifactId>
        <version>%s</version>
        <relativePath/>
      </parent>
      <groupId>com.example</groupId>
      <artifactId>spring-boot-3-worker</artifactId>
      <version>1</version>
      <packaging>pom</packaging>
      <dependencies>
        <dependency>
          <groupId>io.punctual</groupId>
          <artifactId>scheduler-client-starter-boot3</artifactId>
          <version>%s</version>
        </dependency>
        <dependency>
          <groupId>org.springframework.boot</groupId>
          <artifactId>spring-boot-starter-actuator</artifactId>
        </dependency>
      </dependencies>
    </project>
    """
        .formatted(
            ScratchProject.required("punctual.spring-boot3.version"),
            ScratchProject.required("punctual.version"));
  }

  @Override
  void startAgain(JavaProcess registry) {
    registry.start().awaitReady();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(PROGRAMS.scheduler(registry, REDIS.port(), "on-spring-boot-3"));
  }

  @Override
  JavaProcess worker(Workload load, String... options) {
    return PROGRAMS.workerWith(libraries, registry(), load.application(), load.record(), options);
  }

  @Override
  String source() {
    return "eureka";
  }
}
