package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Combination;
import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of what runs on what names tests that exist, and leaves no combination out. */
class MatrixTest {

  private static final Path ROOT = ModuleDirectory.root();
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:IT|Test))`");
  private static final String NONE = "not available";

  @Test
  void everyCellNamesTestsOrIsNotAvailable() throws IOException {
    List<List<String>> table = table();
    Set<String> tests = tests();
    assertThat(table.getFirst())
        .containsExactly("", "Boot 3.5", "Boot 4.0", "Boot 4.1", "WebFlux", "plain Java", "Kotlin");
    List<String> rows = new ArrayList<>();
    for (List<String> row : table.subList(2, table.size())) {
      rows.add(row.getFirst());
      assertThat(row).as("%s", row).hasSameSizeAs(table.getFirst());
      for (String cell : row.subList(1, row.size())) {
        List<String> named = named(cell);
        if (named.isEmpty()) {
          assertThat(cell).as("%s", row).isEqualTo(NONE);
        }
        assertThat(tests).as("%s", row).containsAll(named);
      }
    }
    assertThat(rows)
        .containsExactlyElementsOf(
            Stream.of("push", "pull", "plugin")
                .flatMap(way -> Stream.of("Eureka", "ZooKeeper", "none").map(in -> way + ", " + in))
                .toList());
  }

  @Test
  void theCellsOfTheSharedTestAreThoseThatItRuns() throws IOException {
    List<List<String>> table = table();
    Set<String> tested = new TreeSet<>();
    for (List<String> row : table.subList(2, table.size())) {
      for (int column = 1; column < row.size(); column++) {
        if (named(row.get(column)).contains("CombinationsIT")) {
          tested.add(row.getFirst() + ", " + table.getFirst().get(column));
        }
      }
    }
    assertThat(tested)
        .containsExactlyInAnyOrderElementsOf(Combination.all().map(Combination::toString).toList());
  }

  private static List<String> named(String cell) {
    List<String> named = new ArrayList<>();
    Matcher found = TEST.matcher(cell);
    while (found.find()) {
      named.add(found.group(1));
    }
    return named;
  }

  private static List<List<String>> table() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/choose.md"));
    return page.substring(page.indexOf("## Tested combinations"))
        .lines()
        .dropWhile(line -> !line.startsWith("|"))
        .takeWhile(line -> line.startsWith("|"))
        .map(line -> Arrays.stream(line.split("\\|", -1)).map(String::strip).toList())
        .map(cells -> cells.subList(1, cells.size() - 1))
        .toList();
  }

  /** The classes of tests in all modules, also of those that are no part of this build. */
  private static Set<String> tests() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT, 12)) {
      return files
          .map(ROOT::relativize)
          .filter(file -> file.toString().contains("src/test/java/"))
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".java"))
          .map(name -> name.substring(0, name.length() - ".java".length()))
          .collect(Collectors.toSet());
    }
  }
}
