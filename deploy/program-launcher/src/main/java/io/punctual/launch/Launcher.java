package io.punctual.launch;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/**
 * Starts a program if its Java is new enough and its libraries lie beside its jar; else says in a
 * sentence what is missing. The jar's manifest names the Java ({@code Java-Version}), the libraries
 * ({@code Class-Path}) and the program ({@code Start-Class}).
 */
public final class Launcher {

  private Launcher() {}

  /** Starts the program of this jar, or ends with 1. */
  public static void main(String[] args)
      throws IOException, URISyntaxException, ReflectiveOperationException {
    File jar = new File(Launcher.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Attributes manifest = manifest(jar);
    String problem = problem(jar, manifest);
    if (!problem.isEmpty()) {
      System.err.println(problem);
      System.exit(1);
    }
    start(required(manifest, "Start-Class"), args);
  }

  private static Attributes manifest(File jar) throws IOException {
    try (JarFile file = new JarFile(jar)) {
      return file.getManifest().getMainAttributes();
    }
  }

  private static String required(Attributes manifest, String name) {
    String value = manifest.getValue(name);
    if (value == null) {
      throw new IllegalStateException("the manifest has no " + name);
    }
    return value;
  }

  /** Returns what is missing, or an empty text. */
  private static String problem(File jar, Attributes manifest) {
    String required = required(manifest, "Java-Version");
    String java = System.getProperty("java.specification.version", "");
    if (number(java) < number(required)) {
      return jar.getName()
          + " needs Java "
          + required
          + " or newer, but "
          + System.getProperty("java.home")
          + " is Java "
          + java
          + ". Install Java "
          + required
          + ", and set JAVA_HOME or PATH to it.";
    }
    File folder = jar.getAbsoluteFile().getParentFile();
    List<String> missing = new ArrayList<>();
    StringTokenizer libraries = new StringTokenizer(required(manifest, "Class-Path"));
    int count = libraries.countTokens();
    while (libraries.hasMoreTokens()) {
      String library = libraries.nextToken();
      if (!new File(folder, library).isFile()) {
        missing.add(library);
      }
    }
    if (missing.isEmpty()) {
      return "";
    }
    return jar.getName()
        + " needs its "
        + count
        + " libraries in the folder lib beside it, but "
        + missing.size()
        + " of them are not in "
        + new File(folder, "lib")
        + " (the first is "
        + missing.get(0)
        + "). Copy the jar together with the folder lib that it was built with.";
  }

  // Java 8 calls itself 1.8.
  private static int number(String version) {
    String number = version.startsWith("1.") ? version.substring(2) : version;
    return Integer.parseInt(number.trim());
  }

  private static void start(String program, String[] args) throws ReflectiveOperationException {
    try {
      Class.forName(program).getMethod("main", String[].class).invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      Throwable cause = e.getCause();
      if (cause instanceof RuntimeException) {
        throw (RuntimeException) cause;
      }
      if (cause instanceof Error) {
        throw (Error) cause;
      }
      throw e;
    }
  }
}
