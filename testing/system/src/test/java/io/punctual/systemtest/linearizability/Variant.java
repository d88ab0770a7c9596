package io.punctual.systemtest.linearizability;

import io.punctual.core.Engine;
import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * The engine with one mistake in it: a source file of scheduler-core in which one text is another.
 *
 * @param mistake for people
 * @param file below {@code src/main}
 * @param from the text, as it stands there once
 */
record Variant(String mistake, String file, String from, String to) {

  private static final String CORE = "io.punctual.core.";
  private static final String HERE = Variant.class.getPackageName() + ".";

  /**
   * Runs that variant.
   *
   * @param directory for what is compiled
   * @return the shortest history that is wrong; empty if none is
   */
  Optional<String> violation(Path directory, long seed, EngineFault fault, String durability)
      throws Exception {
    make(directory);
    URL[] path = {
      directory.toUri().toURL(), location(Engine.class), location(EngineRun.class),
    };
    try (Loader loader = new Loader(path)) {
      Method run =
          Class.forName(HERE + "EngineRun", true, loader)
              .getDeclaredMethod("wrongHistory", long.class, String.class, String.class);
      // Of the same package by name, and of another one by loader.
      run.setAccessible(true);
      String violation = (String) run.invoke(null, seed, fault.name(), durability);
      return Optional.of(violation).filter(text -> !text.isEmpty());
    }
  }

  private static URL location(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }

  private void make(Path directory) throws IOException {
    Path sources = ModuleDirectory.root().resolve("scheduler-core/src/main");
    String source = Files.readString(sources.resolve(file));
    int at = source.indexOf(from);
    if (at < 0 || source.indexOf(from, at + 1) >= 0) {
      throw new IllegalStateException("not once in " + file + ": " + from);
    }
    String broken = source.replace(from, to);
    if (file.startsWith("lua/")) {
      Path script = directory.resolve("io/punctual/core").resolve(file);
      Files.createDirectories(script.getParent());
      Files.writeString(script, broken);
    } else {
      Path copy = directory.resolve(Path.of(file).getFileName());
      Files.createDirectories(directory);
      Files.writeString(copy, broken);
      compile(copy, directory);
    }
  }

  private static void compile(Path source, Path directory) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> arguments =
        List.of(
            "-proc:none",
            "-cp",
            System.getProperty("java.class.path"),
            "-d",
            directory.toString(),
            source.toString());
    if (compiler.run(null, null, null, arguments.toArray(String[]::new)) != 0) {
      throw new IllegalStateException("does not compile: " + source);
    }
  }

  @Override
  public String toString() {
    return mistake;
  }

  /** Loads the engine, and all that speaks to it, anew. */
  private static final class Loader extends URLClassLoader {

    Loader(URL[] path) {
      super(path, Variant.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(CORE) && !name.startsWith(HERE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
    }

    @Override
    public URL getResource(String name) {
      URL found = findResource(name);
      return found != null ? found : super.getResource(name);
    }
  }
}
