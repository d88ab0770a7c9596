package io.punctual.systemtest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A line of a worker's record.
 *
 * @param done whether it says that the invocation ended well, not that it began
 * @param at epoch ms
 */
public record Execution(boolean done, String taskId, long at) {

  /** Reads a record file. */
  public static List<Execution> read(Path record) throws IOException {
    List<Execution> executions = new ArrayList<>();
    if (Files.exists(record)) {
      for (String line : Files.readAllLines(record)) {
        String[] words = line.split(" ", 3);
        executions.add(new Execution(words[0].equals("done"), words[1], Long.parseLong(words[2])));
      }
    }
    return executions;
  }
}
