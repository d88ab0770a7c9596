package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What is published, and the versions that {@code punctual-bom} manages. */
class PublishedModulesTest {

  private static final Path ROOT = ModuleDirectory.root();
  private static final String BOM = "punctual-bom";
  private static final Pattern OURS =
      Pattern.compile("<groupId>io.punctual</groupId>\\s*<artifactId>([^<]+)</artifactId>");

  @Test
  void theBomManagesWhatIsPublished() throws Exception {
    String bom = Files.readString(ROOT.resolve(BOM).resolve("pom.xml"));
    Set<String> managed = ours(bom.substring(bom.indexOf("<dependencies>")));

    Set<String> published = published();
    published.remove(BOM);
    assertThat(managed).isEqualTo(published);
  }

  @Test
  void whatIsPublishedNeedsNothingOfOursThatIsNot() throws Exception {
    Set<String> published = published();
    for (String module : published) {
      String pom = Files.readString(ModuleDirectory.of(module).resolve("pom.xml"));
      String needed =
          Pattern.compile("<dependency>.*?</dependency>", Pattern.DOTALL)
              .matcher(pom)
              .results()
              .map(dependency -> dependency.group())
              .filter(dependency -> !dependency.contains("<scope>test</scope>"))
              .collect(Collectors.joining());
      assertThat(published).as(module).containsAll(ours(needed));
    }
  }

  /** Without the parent, nothing else tells the BOM its versions. */
  @Test
  void theBomHasTheVersionsOfTheBuild() throws Exception {
    String root = Files.readString(ROOT.resolve("pom.xml"));
    String bom = Files.readString(ROOT.resolve(BOM).resolve("pom.xml"));
    assertThat(bom)
        .contains("<version>" + first("<spotless.version>([^<]+)<", root) + "</version>")
        .contains(
            "<artifactId>punctual-bom</artifactId>\n  <version>"
                + first("<artifactId>punctual</artifactId>\\s*<version>([^<]+)<", root));
  }

  private static Set<String> published() throws Exception {
    Set<String> names = new TreeSet<>();
    Matcher module =
        Pattern.compile("<module>([^<]+)</module>")
            .matcher(Files.readString(ROOT.resolve("pom.xml")));
    while (module.find()) {
      Path directory = ROOT.resolve(module.group(1));
      String pom = Files.readString(directory.resolve("pom.xml"));
      if (!pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")) {
        names.add(directory.getFileName().toString());
      }
    }
    return names;
  }

  private static Set<String> ours(String xml) {
    return OURS.matcher(xml)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String first(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(pattern).isTrue();
    return matcher.group(1);
  }
}
