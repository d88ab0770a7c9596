package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first class of each program, as the scheduler has it. */
class LauncherTest {

  private static final String LAUNCHER = "io.punctual.launch.Launcher";

  @TempDir private Path directory;

  /** What the jar starts. */
  public static final class Program {

    public static void main(String[] args) {
      if (args.length == 0) {
        throw new IllegalStateException("no arguments");
      }
      System.out.println("runs with " + String.join(",", args));
    }
  }

  @BeforeEach
  void libraries() throws IOException {
    Files.createDirectories(directory.resolve("lib"));
    for (String library : List.of("one.jar", "two.jar")) {
      try (OutputStream out = Files.newOutputStream(directory.resolve("lib").resolve(library));
          JarOutputStream jar = new JarOutputStream(out)) {
        jar.putNextEntry(new ZipEntry("empty"));
      }
    }
  }

  private record Run(int result, String output) {}

  private Run run(String requiredJava, String... arguments) throws Exception {
    Path jar = directory.resolve("program.jar");
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, LAUNCHER);
    attributes.put(Attributes.Name.CLASS_PATH, "lib/one.jar lib/two.jar");
    attributes.putValue("Java-Version", requiredJava);
    attributes.putValue("Start-Class", Program.class.getName());
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream files = new JarOutputStream(out, manifest)) {
      Map<String, Path> classes =
          Map.of(
              LAUNCHER,
              ModuleDirectory.of("scheduler-server").resolve("target/classes"),
              Program.class.getName(),
              Path.of(Program.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
      for (Map.Entry<String, Path> type : classes.entrySet()) {
        String name = type.getKey().replace('.', '/') + ".class";
        files.putNextEntry(new ZipEntry(name));
        files.write(Files.readAllBytes(type.getValue().resolve(name)));
      }
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                jar.toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .directory(new java.io.File("/"))
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Run(process.waitFor(), output);
  }

  @Test
  void theProgramGetsItsArguments() throws Exception {
    assertThat(run("17", "a", "b c"))
        .isEqualTo(new Run(0, "runs with a,b c" + System.lineSeparator()));
  }

  @Test
  void aJavaThatIsTooOldIsNamedTogetherWithTheOneThatIsNeeded() throws Exception {
    Run run = run("999", "a");

    assertThat(run.result()).isEqualTo(1);
    assertThat(run.output())
        .contains(
            "program.jar needs Java 999 or newer",
            System.getProperty("java.home") + " is Java " + Runtime.version().feature())
        .hasLineCount(1);
  }

  @Test
  void missingLibrariesAreCountedAndTheFirstIsNamed() throws Exception {
    Files.delete(directory.resolve("lib").resolve("two.jar"));
    Run run = run("17", "a");

    assertThat(run.result()).isEqualTo(1);
    assertThat(run.output())
        .contains(
            "program.jar needs its 2 libraries",
            "1 of them are not in " + directory.resolve("lib"),
            "the first is lib/two.jar")
        .hasLineCount(1);
  }

  @Test
  void whatTheProgramThrowsIsSeen() throws Exception {
    Run run = run("17");

    assertThat(run.result()).isEqualTo(1);
    assertThat(run.output())
        .contains("IllegalStateException: no arguments")
        .doesNotContain("InvocationTargetException");
  }
}
