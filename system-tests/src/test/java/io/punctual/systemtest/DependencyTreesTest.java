package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What an application gets with a starter, as docs/starter.md prints it: nothing is added unseen.
 */
class DependencyTreesTest {

  private static final Path ROOT = Path.of(System.getProperty("punctual.root", ".."));
  private static final Path PAGE = ROOT.resolve("docs/starter.md");
  // group:artifact:jar:version:scope, behind the lines of the tree.
  private static final Pattern LINE = Pattern.compile("([-+|\\\\ ]*)([^:]+:[^:]+):jar:[^:]+:\\w+");

  @ParameterizedTest
  @ValueSource(strings = {"client", "plugin"})
  void thePageHasTheTree(String starter) throws IOException {
    Pattern block =
        Pattern.compile(
            "(?<=```text\\nio\\.punctual:scheduler-" + starter + "-starter\\n).*?(?=```)",
            Pattern.DOTALL);
    String tree = tree(starter);
    if (Boolean.getBoolean("punctual.docs.write")) {
      Files.writeString(
          PAGE, block.matcher(Files.readString(PAGE)).replaceFirst(Matcher.quoteReplacement(tree)));
    }

    Matcher printed = block.matcher(Files.readString(PAGE));
    assertThat(printed.find()).as("the block of the %s starter", starter).isTrue();
    assertThat(printed.group())
        .as(
            "What comes with scheduler-%s-starter is not what docs/starter.md prints. If it is meant,"
                + " write it anew: mvn test -pl system-tests -am -Dtest=DependencyTreesTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dpunctual.docs.write=true",
            starter)
        .isEqualTo(tree);
  }

  /** Without versions, which change more often; and without the module that asks. */
  private static String tree(String starter) throws IOException {
    Path file = ROOT.resolve("system-tests/dependencies/" + starter + "/target/dependencies.txt");
    return Files.readAllLines(file).stream()
        .skip(2)
        .map(DependencyTreesTest::line)
        .collect(Collectors.joining());
  }

  private static String line(String line) {
    Matcher parts = LINE.matcher(line);
    assertThat(parts.matches()).as(line).isTrue();
    // Everything hangs below the starter, which is the module's only dependency.
    return parts.group(1).substring(3) + parts.group(2) + "\n";
  }
}
