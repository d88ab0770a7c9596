package io.punctual.benchmark;

import java.io.File;
import java.io.Serial;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A program that takes part is not on this machine. */
final class NotInstalledException extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  private NotInstalledException(String program) {
    super(program + " is not installed");
  }

  /** Looks for a program on the path. */
  static void unless(String program) throws NotInstalledException {
    boolean installed =
        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    if (!installed) {
      throw new NotInstalledException(program);
    }
  }
}
