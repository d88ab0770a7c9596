package io.punctual.systemtest;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How {@code java} is told which program to start.
 *
 * @param name of the program
 * @param words behind the flags and before the program's options
 * @param jars what it is made of
 * @param base a program whose class path is the begin of this one's, and whose start cache is good
 *     for both; null if it has one for itself
 */
record Launch(String name, List<String> words, List<Path> jars, @Nullable Launch base) {

  Launch(String name, List<String> words, List<Path> jars) {
    this(name, words, jars, null);
  }

  /** A program of the build: a jar, with a directory lib beside it. */
  static Launch jar(String name, Path jar) {
    try (Stream<Path> libraries = Files.list(jar.resolveSibling("lib"))) {
      return new Launch(
          name, List.of("-jar", jar.toString()), Stream.concat(Stream.of(jar), libraries).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A class of this JVM's class path; one that is in a jar needs nothing but jars. */
  static Launch main(Class<?> main) {
    return main(main, jar -> true, jar -> false);
  }

  /**
   * The same.
   *
   * @param jars which there are, by the names of their files
   * @param last which of them come last
   */
  static Launch main(Class<?> main, Predicate<String> jars, Predicate<String> last) {
    boolean packed =
        Files.isRegularFile(
            Path.of(
                URI.create(main.getProtectionDomain().getCodeSource().getLocation().toString())));
    List<Path> path =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(Path::of)
            .filter(entry -> !packed || Files.isRegularFile(entry))
            .filter(entry -> Files.isDirectory(entry) || jars.test(entry.getFileName().toString()))
            .sorted(Comparator.comparing(entry -> last.test(entry.getFileName().toString())))
            .toList();
    String joined =
        path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    return new Launch(main.getSimpleName(), List.of("-cp", joined, main.getName()), path);
  }

  /** The same with another name: it shares no start cache with the first one. */
  Launch named(String other) {
    return new Launch(other, words, jars, base);
  }

  /** The same with more flags. */
  Launch with(List<String> flags) {
    return new Launch(name, Stream.concat(flags.stream(), words.stream()).toList(), jars, base);
  }

  /** The same with the start cache of that one. */
  Launch on(Launch other) {
    return new Launch(name, words, jars, other);
  }

  /** Whether all of it is in jars: classes of directories can be in no start cache. */
  boolean canBeCached() {
    return jars.stream().allMatch(Files::isRegularFile);
  }
}
