package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * The page of the first job, step by step, as a newcomer does it who has nothing of this project
 * but its artifacts in a local repository. What is built is what the pages print. It is run on the
 * Java of this test and on that of Maven, which is 17 where that is so.
 */
@Tag("full")
class FirstStepsIT {

  /** The registry has schedulers of other tests, too, which have other stores and end sooner. */
  private static final String SCHEDULER = "first-steps-scheduler";

  private static final String PROPERTIES = "src/main/resources/application.properties";

  /** The local repository has these plugins, and not those of other versions of Spring Boot. */
  private static final String BUILD_PLUGINS =
      """
      <maven-clean-plugin.version>3.5.0</maven-clean-plugin.version>
      <maven-resources-plugin.version>3.5.0</maven-resources-plugin.version>
      <maven-compiler-plugin.version>3.15.0</maven-compiler-plugin.version>
      <maven-surefire-plugin.version>3.5.6</maven-surefire-plugin.version>
      <maven-jar-plugin.version>3.5.0</maven-jar-plugin.version>
      """;

  private static final String FIRST_JOB = "docs/first-job.md";
  private static final String STARTER = "Add the starter";
  private static final String CODE = "Write the worker and submit a job";

  @Test
  void theDependencyAndTheTenLinesOfTheFirstJobAreAnApplication() throws Exception {
    MarkdownPage page = MarkdownPage.of(FIRST_JOB);
    List<String> parts = page.blocks(STARTER, "xml");
    String pom = parts.get(2);
    assertThat(pom)
        .containsIgnoringWhitespaces(parts.get(0), parts.get(1))
        .contains(
            "<version>%s</version>"
                .formatted(ScratchProject.required("punctual.spring-boot.version")));
    Map<String, String> files = new HashMap<>(files(parts.get(1)));
    files.put("pom.xml", pom);
    String runner = page.blocks("Cancel a job", "java").get(1);
    files.computeIfPresent(
        "src/main/java/com/example/FirstShop.java",
        (path, shop) -> shop.substring(0, shop.lastIndexOf('}')) + runner + "\n}\n");
    ScratchProject bare = ScratchProject.of("service", files);
    bare.maven("package");
    Path jar = bare.directory().resolve("target").resolve("first-shop-1.jar");
    assertThat(libraries(jar))
        .contains("scheduler-client-starter-" + System.getProperty("punctual.version") + ".jar")
        .isSubsetOf(libraries(root().resolve("demo-order-service/target/lib")));
    assertThatItClosesAnOrder(
        bare,
        jar,
        scheduler -> {
          List<String> states = new ArrayList<>();
          for (String curl : page.blocks("Cancel a job", "bash").get(0).strip().split("\n")) {
            String url = curl.replace("curl localhost:8080", scheduler.url());
            states.add(Http.get(url).json().at("/state").asString());
          }
          assertThat(states).containsExactly("delayed", "cancelled");
        });
  }

  @ParameterizedTest
  @CsvSource({
    "spring-boot3, 3, scheduler-client-starter-boot3",
    "spring-boot40, 1, scheduler-client-starter"
  })
  void theSameTenLinesAreAnApplicationOn(String line, int block, String starter) throws Exception {
    String version = ScratchProject.required("punctual." + line + ".version");
    MarkdownPage page = MarkdownPage.of(FIRST_JOB);
    Map<String, String> files =
        new HashMap<>(files(page.blocks(STARTER, "xml").get(block).strip()));
    files.computeIfPresent(
        "pom.xml",
        (path, pom) ->
            pom.replace(
                    "<version>%s</version>"
                        .formatted(ScratchProject.required("punctual.spring-boot.version")),
                    "<version>%s</version>".formatted(version))
                .replace("<java.version>", BUILD_PLUGINS + "<java.version>"));
    ScratchProject bare = ScratchProject.of("service-on-" + line, files);
    bare.maven("package");
    Path jar = bare.directory().resolve("target").resolve("first-shop-1.jar");
    assertThat(libraries(jar))
        .contains(
            starter + "-" + System.getProperty("punctual.version") + ".jar",
            "spring-boot-" + version + ".jar")
        .filteredOn(name -> name.startsWith("scheduler-spring-"))
        .containsExactly(
            starter.replace("client-starter", "spring")
                + "-"
                + System.getProperty("punctual.version")
                + ".jar");
    assertThatItClosesAnOrder(bare, jar, scheduler -> {});
  }

  /** What is to be true of the scheduler once the order is closed. */
  private interface Check {
    void of(JavaProcess scheduler) throws Exception;
  }

  private static void assertThatItClosesAnOrder(ScratchProject bare, Path jar, Check check)
      throws Exception {
    String name = "--spring.application.name=" + SCHEDULER;
    try (JavaProcess scheduler =
        PROGRAMS.scheduler(REGISTRY, REDIS.port(), "first", name).start()) {
      scheduler.awaitReady();
      Waiting.until("the registry shows the scheduler", () -> isRegistered(scheduler));
      for (Path java : javas()) {
        int port = Ports.free();
        try (JavaProcess shop =
            PROGRAMS
                .foreign(
                    java,
                    bare.directory(),
                    "first-shop",
                    List.of(
                        "-jar",
                        jar.toString(),
                        "--server.address=127.0.0.1",
                        "--server.port=" + port,
                        "--punctual.service-id=" + SCHEDULER,
                        Programs.eureka(REGISTRY)),
                    port)
                .start()) {
          shop.awaitLog("closing 1001");
          assertThat(Files.readString(shop.log()))
              .contains("runs [order.close]", "using Java " + version(java));
          check.of(scheduler);
          shop.terminate();
        }
      }
    }
  }

  @Test
  void inDevelopmentTheOtherStarterNeedsNoServers() throws Exception {
    ScratchProject bare =
        ScratchProject.of(
            "plugin",
            files(
                MarkdownPage.of("docs/plugin.md")
                    .blocks("In development: no servers at all", "xml")
                    .get(0)));
    bare.maven(
        "package",
        ScratchProject.dependencyPlugin("build-classpath"),
        "-Dmdep.outputFile=target/classpath");
    assertThat(names(bare.directory().resolve("target").resolve("first-shop-1.jar")))
        .as("what is made for production has no Redis")
        .contains("scheduler-plugin-starter", "scheduler-core", "jedis")
        .doesNotContain("scheduler-dev-redis", "embedded-redis");
    // As development environments start it.
    String classPath =
        bare.directory().resolve("target").resolve("classes")
            + ":"
            + Files.readString(bare.directory().resolve("target").resolve("classpath")).strip();
    for (Path java : javas()) {
      try (JavaProcess shop =
          PROGRAMS
              .foreign(
                  java,
                  bare.directory(),
                  "first-shop-in-development",
                  List.of(
                      "-cp", classPath, "com.example.FirstShop", "--spring.profiles.active=dev"),
                  Ports.free())
              .start()) {
        shop.awaitLog("closing 1001");
        assertThat(Files.readString(shop.log()))
            .contains("in this process: [order.close]", "using Java " + version(java));
        shop.terminate();
      }
    }
  }

  /** The application of the first job, with other properties. */
  static Map<String, String> firstApplication(String properties) throws IOException {
    Map<String, String> files =
        new HashMap<>(files(MarkdownPage.of(FIRST_JOB).blocks(STARTER, "xml").get(1)));
    files.put(PROPERTIES, properties);
    return files;
  }

  /** The project: what Spring's own initializer makes, and what the pages say. */
  private static Map<String, String> files(String dependencies) throws IOException {
    MarkdownPage page = MarkdownPage.of(FIRST_JOB);
    return Map.of(
        "pom.xml",
        """
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
          <artifactId>first-shop</artifactId>
          <version>1</version>
          <properties>
            <java.version>17</java.version>
          </properties>
        %s
          <dependencies>
            <dependency>
              <groupId>org.springframework.boot</groupId>
              <artifactId>spring-boot-starter</artifactId>
            </dependency>
        %s
          </dependencies>
          <build>
            <plugins>
              <plugin>
                <groupId>org.springframework.boot</groupId>
                <artifactId>spring-boot-maven-plugin</artifactId>
              </plugin>
            </plugins>
          </build>
        </project>
        """
            .formatted(
                ScratchProject.required("punctual.spring-boot.version"),
                page.blocks(STARTER, "xml").get(0),
                dependencies),
        PROPERTIES,
        page.blocks(STARTER, "properties").get(0),
        "src/main/java/com/example/FirstShop.java",
        "package com.example;\n\n" + page.blocks(CODE, "java").get(0),
        "src/main/java/com/example/Orders.java",
        "package com.example;\n\n" + page.blocks("Cancel a job", "java").get(0));
  }

  private static List<Path> javas() {
    return Stream.of(
            Path.of(System.getProperty("java.home")),
            Path.of(ScratchProject.required("punctual.maven.java.home")))
        .distinct()
        .toList();
  }

  private static String version(Path java) throws IOException {
    Matcher version =
        Pattern.compile("JAVA_VERSION=\"([0-9]+)")
            .matcher(Files.readString(java.resolve("release")));
    assertThat(version.find()).isTrue();
    return version.group(1);
  }

  /** The names of the jars in a directory, or in a jar of Spring Boot's, without its own tools. */
  private static List<String> libraries(Path where) throws IOException {
    if (Files.isDirectory(where)) {
      try (Stream<Path> files = Files.list(where)) {
        return files.map(file -> file.getFileName().toString()).toList();
      }
    }
    try (JarFile jar = new JarFile(where.toFile())) {
      return jar.stream()
          .map(JarEntry::getName)
          .filter(name -> name.startsWith("BOOT-INF/lib/") && name.endsWith(".jar"))
          .map(name -> name.substring("BOOT-INF/lib/".length()))
          .filter(name -> !name.startsWith("spring-boot-jarmode-tools-"))
          .toList();
    }
  }

  /** The same without versions. */
  private static Set<String> names(Path jar) throws IOException {
    return libraries(jar).stream()
        .map(name -> name.replaceFirst("-\\d.*", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Path root() {
    return ModuleDirectory.root();
  }

  private static boolean isRegistered(JavaProcess scheduler) throws Exception {
    for (JsonNode check : Http.get(scheduler.url() + "/api/v1/doctor").json().get("checks")) {
      if (check.get("name").asString().equals("registration")) {
        return check.get("status").asString().equals("ok");
      }
    }
    return false;
  }
}
