package io.punctual.systemtest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page of the documentation, for tests that do what it says. */
final class MarkdownPage {

  private final Path file;
  private final String text;

  private MarkdownPage(Path file, String text) {
    this.file = file;
    this.text = text;
  }

  /**
   * Reads a page.
   *
   * @param path in the repository
   */
  static MarkdownPage of(String path) throws IOException {
    Path file = ModuleDirectory.root().resolve(path);
    return new MarkdownPage(file, Files.readString(file));
  }

  /**
   * The blocks of code of one language in one section, in their order.
   *
   * @param heading of the section, without its marks
   * @throws IllegalStateException if there is no such section, or no such block in it
   */
  List<String> blocks(String heading, String language) {
    Matcher start =
        Pattern.compile("^#+ " + Pattern.quote(heading) + "$", Pattern.MULTILINE).matcher(text);
    if (!start.find()) {
      throw new IllegalStateException(file + " has no section '" + heading + "'");
    }
    // One mark alone may be a comment in a block.
    Matcher next = Pattern.compile("^##+ ", Pattern.MULTILINE).matcher(text);
    String section =
        next.find(start.end())
            ? text.substring(start.end(), next.start())
            : text.substring(start.end());
    List<String> found = new ArrayList<>();
    Matcher block =
        Pattern.compile("```" + Pattern.quote(language) + "\n(.*?)```", Pattern.DOTALL)
            .matcher(section);
    while (block.find()) {
      found.add(block.group(1));
    }
    if (found.isEmpty()) {
      throw new IllegalStateException(
          file + " has no block of " + language + " in the section '" + heading + "'");
    }
    return found;
  }
}
