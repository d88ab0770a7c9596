package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.ModuleDirectory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Each block of code on a page is held by a test. A block is compiled, run or replayed by the test
 * that {@link #CLAIMS} names; or it is checked here, line by line; or {@link #NOT_RUN} says why it
 * cannot be run.
 */
class PageBlocksTest {

  private static final Path ROOT = ModuleDirectory.root();
  private static final Set<String> LEFT_OUT = Set.of("target", "node_modules", ".git");
  private static final Map<String, String> SOURCES = sources(ROOT);
  private static final List<Path> POMS = files(ROOT, Pattern.compile("pom\\.xml"));

  /** Page, heading (or all), language, and the test, whose source names page and heading. */
  private static final List<String> CLAIMS =
      List.of(
          "docs/api.md | all | http | ApiPagesIT",
          "docs/api.md | all | json | ApiPagesIT",
          "docs/command.md | all | http | ApiPagesIT",
          "docs/claims.md | all | http | ApiPagesIT",
          "docs/api-jobs.md | all | http | ApiPagesIT",
          "docs/api-events.md | all | http | ApiPagesIT",
          "docs/api-events.md | all | bash | ApiPagesIT",
          "docs/api-many-jobs.md | all | http | ApiPagesIT",
          "docs/api-many-jobs.md | all | bash | ApiPagesIT",
          "docs/callbacks.md | Pings | python | ExamplesIT",
          "docs/api-queues.md | all | http | ApiPagesIT",
          "docs/api-queues.md | all | bash | ApiPagesIT",
          "docs/api-workers.md | all | http | ApiPagesIT",
          "docs/api-schedules.md | all | http | ApiPagesIT",
          "docs/api-schedules.md | all | bash | ApiPagesIT",
          "docs/api-schedules.md | all | json | ApiPagesIT",
          "docs/api-submit-again.md | all | http | ApiPagesIT",
          "docs/api-submit-again.md | all | bash | ApiPagesIT",
          "docs/errors.md | all | http | ApiPagesIT",
          "docs/migration-cron.md | all | bash | ApiPagesIT",
          "docs/overload.md | all | bash | ApiPagesIT",
          "docs/reliability.md | all | bash | ApiPagesIT",
          "docs/metrics.md | all | bash | ApiPagesIT",
          "docs/operations.md | Operations | bash | ApiPagesIT",
          "docs/backup.md | Back up and restore | bash | BackupPageIT",
          "docs/backup.md | Restore | bash | BackupPageIT",
          "docs/backup.md | After the restore | bash | BackupPageIT",
          "docs/first-job.md | Add the starter | xml | FirstStepsIT",
          "docs/first-job.md | Add the starter | properties | FirstStepsIT",
          "docs/first-job.md | Cancel a job | bash | FirstStepsIT",
          "docs/plugin.md | In development: no servers at all | xml | FirstStepsIT",
          "docs/plugin.md | Look at and requeue dead letters | bash | EndToEndIT",
          "docs/install.md | Install a scheduler | bash | InstallPageIT",
          "docs/install.md | Configure | bash | InstallPageIT",
          "docs/install.md | Start two instances | bash | InstallPageIT",
          "docs/install.md | Admit the first application | bash | InstallPageIT",
          "docs/install.md | Admit the first application | properties | InstallPageIT",
          "docs/install.md | Check that all is well | bash | InstallPageIT",
          "docs/security.md | Setting it up | bash | InstallPageIT",
          "docs/redis.md | A user of Redis for Punctual | bash | InstallPageIT",
          "docs/redis.md | Check a server | console | RedisCheckIT",
          "docs/redis-keys.md | Keys in Redis | bash | InstallPageIT",
          "docs/upgrade.md | Upgrade | bash | InstallPageIT",
          "docs/upgrade.md | Check the result | bash | InstallPageIT",
          "docs/kubernetes.md | Run on Kubernetes | bash | KubernetesIT",
          "docs/kubernetes.md | Install | bash | KubernetesIT",
          "docs/kubernetes.md | Applications | bash | KubernetesIT",
          "docs/kubernetes.md | Find workers by services | yaml | KubernetesIT",
          "docs/tls.md | Certificates | bash | Certificates",
          "docs/quickstart.md | Try it | bash | ShopPageIT",
          "demo-order-service/README.md | Its API | bash | ShopPageIT",
          "docs/works-with.md | Supported applications | bash | ShopPageIT",
          "docs/starter.md | Endpoint and health | json | ShopPageIT",
          "docs/other-languages.md | Other languages | python | ExamplesIT",
          "docs/other-languages.md | Look up, reschedule and cancel | bash | ExamplesIT",
          "docs/other-languages.md | Commands: one address | bash | ExamplesIT",
          "examples/README.md | Examples | bash | ExamplesIT",
          "examples/python/README.md | A client in Python | bash | ExamplesIT",
          "examples/python/README.md | A worker that is called | bash | ExamplesIT",
          "examples/php/README.md | A client in PHP | bash | ExamplesIT",
          "examples/node/README.md | A worker in Node | bash | ExamplesIT",
          "examples/kotlin-shop/README.md | A shop in Kotlin | bash | ExamplesIT",
          "examples/quarkus-shop/README.md | A shop on Quarkus | bash | ExamplesIT",
          "examples/modulith-shop/README.md | A shop with Spring Modulith | bash | ModulithIT",
          "docs/import-jobs.md | Move waiting jobs | console | ImportJobsIT",
          "docs/containers.md | A scheduler in a container | yaml | PageBlocksTest",
          "docs/import-sql.md | Move jobs out of a database | console | PageBlocksTest",
          "docs/tls.md | Redis | ini | PageBlocksTest",
          "docs/works-with.md | Kotlin | kotlin | PageBlocksTest");

  /** Page, heading, language, and why no test runs it. */
  private static final List<String> NOT_RUN =
      List.of(
          "demo-order-service/README.md | Traces | bash | sets variables, as ShopIT does by"
              + " options",
          "eureka-registry/README.md | Access | bash | sets a variable",
          "eureka-registry/README.md | eureka-registry | bash | sets a variable; RegistryStartIT",
          "examples/node/README.md | Signed | bash | the key is the reader's; ExamplesIT has one",
          "examples/plain-java/README.md | Called by the scheduler | bash | the key is the reader's;"
              + " JavaClientIT has one",
          "docs/containers.md | Run in containers | bash | needs Docker: compose-check.sh",
          "docs/containers.md | Try failures | bash | needs Docker: compose-check.sh",
          "docs/operations.md | Alerts | bash | needs Docker: compose-check.sh",
          "docs/install.md | Start two instances | ini | needs systemd",
          "docs/kubernetes.md | Find workers by services | dockerfile | needs Docker",
          "docs/kubernetes.md | Find workers by services | bash | needs Docker");

  /** What is printed, or written by people: no code. */
  private static final Set<String> NO_CODE = Set.of("text");

  /** Keys whose metadata are not on the class path, and a test that sets some of them. */
  private static final Map<String, String> OTHERS =
      Map.of(
          "eureka.server.", "InstallPageIT",
          "spring.data.redis.", "InstallPageIT",
          "spring.flyway.", "PunctualTransactionsAutoConfigurationTest");

  private record Block(String page, String heading, String language, String text) {

    String name() {
      return page + " | " + heading + " | " + language;
    }

    List<String> names() {
      return List.of(name(), page + " | all | " + language);
    }
  }

  @Test
  void eachBlockHasATestOrAReason() throws IOException {
    Set<String> claimed =
        CLAIMS.stream().map(PageBlocksTest::withoutLast).collect(Collectors.toSet());
    Set<String> notRun =
        NOT_RUN.stream().map(PageBlocksTest::withoutLast).collect(Collectors.toSet());
    Set<String> used = new HashSet<>();
    List<String> open = new ArrayList<>();
    for (Block block : blocks()) {
      String name = block.names().stream().filter(claimed::contains).findFirst().orElse(null);
      if (name != null) {
        used.add(name);
      } else if (notRun.contains(block.name())) {
        used.add(block.name());
      } else if (!isCheckedHere(block)) {
        open.add(block.name() + "\n" + block.text());
      }
    }
    assertThat(open).as("blocks without a test: add one, and name it in CLAIMS").isEmpty();
    assertThat(used).as("rows without a block").containsAll(claimed).containsAll(notRun);
  }

  private static boolean isCheckedHere(Block block) {
    if (block.page().startsWith("docs/zh/") || block.page().equals("README.zh.md")) {
      return rows("theChinesePageHasTheSameBlocks").anyMatch(row -> row.endsWith(block.page()))
          || block.language().equals("java");
    }
    return switch (block.language()) {
      case "java" -> pagesWithJava().contains(block.page());
      case "properties", "yaml", "xml" -> true; // below
      case "bash" -> wrongLines(block).isEmpty();
      default -> NO_CODE.contains(block.language());
    };
  }

  /** A claim is one of a test that reads the section. */
  @Test
  void theTestsThatAreNamedNameTheirPages() throws IOException {
    assertThat(CLAIMS)
        .allSatisfy(
            claim -> {
              String[] parts = claim.split(" \\| ");
              String source = source(parts[3] + ".java");
              assertThat(source).as(claim).isNotNull();
              String page = parts[0].replaceAll(".*/|\\.md$", "");
              assertThat(source).as(claim).containsPattern("[\"/ ]" + page + "[\".]|" + parts[0]);
              if (parts[0].endsWith("README.md") && !parts[0].equals("examples/README.md")) {
                assertThat(source).contains(parts[0].replaceAll("examples/|/README.md", ""));
              }
              // That one runs all calls of its pages.
              if (!parts[1].equals("all") && !parts[3].equals("ApiPagesIT")) {
                assertThat(source).as(claim).contains(parts[1]);
              }
            });
  }

  @Test
  void noBlockHidesWhatItIs() throws IOException {
    assertThat(blocks())
        .allSatisfy(
            block -> {
              assertThat(block.language()).as(block.name()).isNotEmpty();
              if (NO_CODE.contains(block.language())) {
                assertThat(block.text()).as(block.name()).doesNotContainPattern("[;{]\n");
              }
            });
  }

  /** Programs, modules, profiles, tests, scripts and their options are there. */
  private static List<String> wrongLines(Block block) {
    return block
        .text()
        .replace("\\\n", " ")
        .lines()
        .map(line -> line.replaceFirst("\\s+#.*", "").strip())
        .filter(line -> !line.isEmpty() && !line.startsWith("curl localhost"))
        .filter(line -> !namesWhatIsThere(line))
        .toList();
  }

  private static boolean namesWhatIsThere(String line) {
    String command = line.replaceFirst("^((JAVA_HOME|IMAGE_PREFIX)=\\S+|bash) ", "");
    List<String> words = List.of(command.split(" +"));
    return switch (words.get(0)) {
      case "apt-get", "(cd" -> true; // packages of the system, and the site, which SiteIT builds
      case "mvn" -> words.stream().skip(1).allMatch(word -> isKnownToMaven(words, word));
      case "java" -> words.stream().skip(1).allMatch(PageBlocksTest::isProgram);
      default -> {
        Path script = ROOT.resolve(words.get(0));
        yield Files.isExecutable(script)
            && Files.isRegularFile(script)
            && words.stream().skip(1).allMatch(option -> PagesTest.read(script).contains(option));
      }
    };
  }

  private static boolean isKnownToMaven(List<String> words, String word) {
    Matcher property = Pattern.compile("-D([a-z0-9.A-Z-]+)(?:=(.*))?").matcher(word);
    if (property.matches()) {
      String name = property.group(1);
      if (name.equals("test") || name.equals("it.test")) {
        return Stream.of(property.group(2).replace("'", "").split(","))
            .allMatch(test -> test.equals("none") || SOURCES.containsKey(test + ".java"));
      }
      return name.equals("argLine")
          ? isKnownToMaven(words, property.group(2))
          : OF_MAVEN.contains(name)
              || SOURCES.values().stream().anyMatch(source -> source.contains(name))
              || POMS.stream().anyMatch(pom -> PagesTest.read(pom).contains(name));
    }
    if (word.startsWith("-P")) {
      return Stream.of(word.substring(2).split(","))
          .map("<id>%s</id>"::formatted)
          .allMatch(
              profile -> POMS.stream().anyMatch(pom -> PagesTest.read(pom).contains(profile)));
    }
    int index = words.indexOf(word);
    if (words.get(index - 1).equals("-pl")) {
      return Stream.of(word.split(","))
          .allMatch(module -> Files.exists(ROOT.resolve(module + "/pom.xml")));
    }
    return WORDS_OF_MAVEN.contains(word) || word.equals("1C");
  }

  private static final Set<String> WORDS_OF_MAVEN =
      Set.of(
          "-q",
          "-am",
          "-pl",
          "-T",
          "verify",
          "package",
          "install",
          "test",
          "deploy",
          "spring-boot:run",
          "spotless:apply",
          "dependency:copy-dependencies");

  private static final Set<String> OF_MAVEN =
      Set.of(
          "skipTests",
          "skipITs",
          "maven.test.skip",
          "surefire.failIfNoSpecifiedTests",
          "failsafe.failIfNoSpecifiedTests",
          "altDeploymentRepository",
          "spring-boot.run.profiles",
          "outputDirectory",
          "includeGroupIds");

  private static boolean isProgram(String word) {
    if (word.endsWith(".jar")) {
      Path jar = Path.of(word);
      return jar.getNameCount() == 1
          ? Files.exists(ROOT.resolve(word.replace(".jar", "")).resolve("pom.xml"))
          : Files.exists(ROOT.resolve(word.replaceFirst("/target/.*", "")).resolve("pom.xml"));
    }
    return word.startsWith("-")
        || word.startsWith("http://localhost")
        || word.equals("'scheduler-server.jar:extensions/*'")
        || SOURCES.containsKey(word.substring(word.lastIndexOf('.') + 1) + ".java");
  }

  @Test
  void thePropertiesOfThePagesAreKnown() throws IOException {
    Set<String> known = new HashSet<>();
    Set<String> maps = new HashSet<>();
    for (JsonNode metadata : metadata()) {
      for (JsonNode property : metadata.get("properties")) {
        String name = relaxed(property.get("name").stringValue());
        known.add(name);
        String type = property.path("type").asString("");
        if (type.startsWith("java.util.Map") || type.startsWith("java.util.List")) {
          maps.add(name);
        }
      }
    }
    Map<String, String> unknown = new TreeMap<>();
    int seen = 0;
    for (Block block : blocks()) {
      for (String key : keys(block)) {
        seen++;
        String name = relaxed(key);
        if (!known.contains(name)
            && maps.stream().noneMatch(name::startsWith)
            && OTHERS.keySet().stream().noneMatch(key::startsWith)) {
          unknown.put(key, block.name());
        }
      }
    }
    assertThat(unknown).isEmpty();
    OTHERS.forEach((keys, test) -> assertThat(source(test + ".java")).as(test).contains(keys));
    assertThat(seen).isGreaterThan(80);
  }

  private static Set<String> keys(Block block) {
    if (CLAIMS.stream().anyMatch(claim -> block.names().contains(withoutLast(claim)))
        || block.text().contains("databaseChangeLog")) {
      return Set.of();
    }
    return switch (block.language()) {
      case "properties" ->
          block
              .text()
              .lines()
              .filter(line -> !line.isBlank() && !line.startsWith("#"))
              .map(line -> line.substring(0, line.indexOf('=')))
              .collect(Collectors.toSet());
      case "yaml" -> {
        YamlPropertiesFactoryBean yaml = new YamlPropertiesFactoryBean();
        yaml.setResources(new ByteArrayResource(block.text().getBytes(StandardCharsets.UTF_8)));
        Properties all = Objects.requireNonNull(yaml.getObject());
        // What stands there for the reader has no value.
        all.values().removeIf(""::equals);
        yield all.stringPropertyNames();
      }
      default -> Set.of();
    };
  }

  /** As Spring Boot compares names, also those of the environment. */
  private static String relaxed(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  private static List<JsonNode> metadata() throws IOException {
    List<JsonNode> all = new ArrayList<>();
    JsonMapper json = JsonMapper.shared();
    for (String module : List.of("scheduler-server", "eureka-registry", "scheduler-spring")) {
      all.add(
          json.readTree(
              Files.readString(
                  ModuleDirectory.of(module)
                      .resolve("target/classes/META-INF/spring-configuration-metadata.json"))));
    }
    for (String name :
        List.of("spring-configuration-metadata", "additional-spring-configuration-metadata")) {
      for (URL url :
          Collections.list(
              PageBlocksTest.class.getClassLoader().getResources("META-INF/" + name + ".json"))) {
        try (var in = url.openStream()) {
          all.add(json.readTree(in));
        }
      }
    }
    return all;
  }

  /** Artifacts of ours are there, and their versions are that of the build. */
  @Test
  void theDependenciesOfThePagesAreThere() throws Exception {
    String poms = POMS.stream().map(PagesTest::read).collect(Collectors.joining());
    int seen = 0;
    int versions = 0;
    for (Block block : blocks()) {
      if (!block.language().equals("xml")) {
        continue;
      }
      String text = block.text().replaceFirst("<\\?xml[^>]*>", "");
      NodeList groups =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(
                  new ByteArrayInputStream(
                      ("<all>" + text + "</all>").getBytes(StandardCharsets.UTF_8)))
              .getElementsByTagName("groupId");
      for (int i = 0; i < groups.getLength(); i++) {
        if (!groups.item(i).getTextContent().equals("io.punctual")) {
          continue;
        }
        seen++;
        Map<String, String> artifact = elements(groups.item(i).getParentNode());
        assertThat(poms).contains("<artifactId>" + artifact.get("artifactId") + "</artifactId>");
        if (artifact.containsKey("version")) {
          versions++;
          assertThat(artifact.get("version"))
              .as(block.name())
              .isEqualTo(System.getProperty("punctual.version"));
        }
      }
    }
    assertThat(seen).isGreaterThan(8);
    assertThat(versions).isPositive();
  }

  private static Map<String, String> elements(Node parent) {
    Map<String, String> elements = new TreeMap<>();
    for (Node child = parent.getFirstChild(); child != null; child = child.getNextSibling()) {
      elements.put(child.getNodeName(), child.getTextContent());
    }
    return elements;
  }

  @Test
  void theServiceInAContainerIsThatOfItsTest() throws IOException {
    String yaml = block("docs/containers.md", "A scheduler in a container", "yaml");
    assertThat(PagesTest.flat(source("ContainersCheck.java")))
        .contains(PagesTest.flat(yaml.replaceFirst("\\$\\{SIGNING_KEY:[^}]*}", "%s")));
  }

  /** Both commands take the same options; the tests of the databases run the rest of its words. */
  @Test
  void theCommandForDatabasesHasTheOptionsOfTheOther() throws IOException {
    String other = block("docs/import-jobs.md", "Move waiting jobs", "console");
    String command = block("docs/import-sql.md", "Move jobs out of a database", "console");
    assertThat(options(command)).isNotEmpty().isEqualTo(options(other));
    assertThat(command).contains("import-jobs db-scheduler 'jdbc:", "io.punctual.launch.Launcher");
    assertThat(source("DbSchedulerImportIT.java")).contains("\"db-scheduler\"");
    assertThat(SOURCES).containsKey("Launcher.java");
  }

  private static List<String> options(String command) {
    return Pattern.compile("--\\S+").matcher(command).results().map(MatchResult::group).toList();
  }

  @Test
  void theRedisWithTlsHasTheOptionsOfItsTest() throws IOException {
    assertThat(block("docs/tls.md", "Redis", "ini").lines().map(line -> line.split(" ")[0]))
        .hasSizeGreaterThan(4)
        .allSatisfy(key -> assertThat(source("TlsIT.java")).contains("\"--" + key + "\""));
  }

  @Test
  void theCodeInKotlinIsThatOfTheExample() throws IOException {
    String source = PagesTest.flat(source("KotlinShop.kt"));
    assertThat(block("docs/works-with.md", "Kotlin", "kotlin").split("\n\n"))
        .hasSize(2)
        .allSatisfy(part -> assertThat(source).contains(PagesTest.flat(part)));
  }

  private static String block(String page, String heading, String language) throws IOException {
    return blocks().stream()
        .filter(block -> block.name().equals(page + " | " + heading + " | " + language))
        .findFirst()
        .orElseThrow()
        .text();
  }

  private static List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Path file : PagesTest.pages()) {
      String page = ROOT.relativize(file).toString();
      Matcher part =
          Pattern.compile(
                  "^#+ ([^\n]+)$|^ *```(\\S*)\n(.*?)^ *```$", Pattern.MULTILINE | Pattern.DOTALL)
              .matcher(PagesTest.read(file));
      String heading = "";
      while (part.find()) {
        if (part.group(1) != null) {
          heading = part.group(1);
        } else {
          blocks.add(new Block(page, heading, part.group(2), part.group(3)));
        }
      }
    }
    assertThat(blocks).hasSizeGreaterThan(300);
    return blocks;
  }

  private static Set<String> pagesWithJava() {
    return rows("everyJavaBlockIsInTheSources")
        .map(row -> row.substring(0, row.indexOf(',')))
        .collect(Collectors.toSet());
  }

  private static Stream<String> rows(String test) {
    return Arrays.stream(PagesTest.class.getDeclaredMethods())
        .filter(method -> method.getName().equals(test))
        .flatMap(
            method ->
                Stream.of(Objects.requireNonNull(method.getAnnotation(CsvSource.class)).value()));
  }

  private static String withoutLast(String row) {
    return row.substring(0, row.lastIndexOf(" | "));
  }

  private static String source(String file) {
    return Objects.requireNonNull(SOURCES.get(file), file);
  }

  /** Files of Java and Kotlin by their names; those of one name are one text. */
  private static Map<String, String> sources(Path root) {
    return files(root, Pattern.compile(".*\\.(java|kt)")).stream()
        .collect(
            Collectors.toMap(
                file -> file.getFileName().toString(), PagesTest::read, String::concat));
  }

  private static List<Path> files(Path root, Pattern names) {
    List<Path> found = new ArrayList<>();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes of) {
              return LEFT_OUT.contains(directory.getFileName().toString())
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes of) {
              if (names.matcher(file.getFileName().toString()).matches()) {
                found.add(file);
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }
}
