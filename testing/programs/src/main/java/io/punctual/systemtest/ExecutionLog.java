package io.punctual.systemtest;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the processes of a worker wrote down in one file. A look reads only what was added since the
 * last one: tests look many times a second.
 */
public final class ExecutionLog {

  private final Path record;
  private final Map<String, Execution> byRun = new LinkedHashMap<>();
  private long read;

  /**
   * @param record the file; it may come later
   */
  public ExecutionLog(Path record) {
    this.record = record;
  }

  /** Returns all invocations so far; a last line that is not whole yet does not count. */
  public synchronized List<Execution> executions() throws IOException {
    if (Files.exists(record)) {
      String added = added();
      int whole = added.lastIndexOf('\n') + 1;
      added.substring(0, whole).lines().forEach(line -> Execution.add(line, byRun));
      // Each character is one byte.
      read += whole;
    }
    return new ArrayList<>(byRun.values());
  }

  private String added() throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(record.toFile(), "r")) {
      file.seek(read);
      byte[] bytes = new byte[Math.toIntExact(file.length() - read)];
      file.readFully(bytes);
      return new String(bytes, StandardCharsets.US_ASCII);
    }
  }
}
