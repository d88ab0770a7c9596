package io.punctual.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/** Figures in a file of JSON lines, which several processes add to, one after the other. */
public final class Figures {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Path file;

  public Figures(Path file) {
    this.file = file;
  }

  /** Adds a figure, and says it. */
  public void add(Figure figure) {
    System.out.println("  " + figure);
    try {
      Files.writeString(
          file,
          JSON.writeValueAsString(figure) + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All that were added. */
  public List<Figure> all() {
    List<Figure> figures = new ArrayList<>();
    try {
      if (Files.exists(file)) {
        for (String line : Files.readAllLines(file)) {
          figures.add(JSON.readValue(line, Figure.class));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return figures;
  }
}
