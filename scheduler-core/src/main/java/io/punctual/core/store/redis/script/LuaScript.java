package io.punctual.core.store.redis.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A script with its includes joined in. A line {@code --- @include lib/x} is replaced by the text
 * of that file, once for each script.
 *
 * @param sha1 what Redis knows it by
 */
public record LuaScript(String name, byte[] text, String sha1) {

  // A script is a file outside of lib. All are read before the first one runs.
  private static final List<String> NAMES =
      List.of(
          """
          submit claim settle extend expire lapse cancel restore revise requeue purge
          find list tagged undoable stats usage forecast pause limit expiry hours opening
          directory/pause directory/paused directory/register directory/stamps events/remember events/remembered instances/broke losses/keep
          members/beat schedules/declare schedules/due schedules/find schedules/list schedules/write
          workers/put workers/read
          """
              .split("\\s+"));

  private static final String INCLUDE = "--- @include ";
  private static final String CLOCK = "lib/now";
  private static final Map<TimeSource, Map<String, LuaScript>> LOADED = new ConcurrentHashMap<>();

  byte[] sha1Bytes() {
    return sha1.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Loads all scripts by name, with the given clock in the place of lib/now. Only the first call
   * with a clock reads files.
   */
  public static Map<String, LuaScript> all(TimeSource time) {
    return LOADED.computeIfAbsent(
        time, clock -> all(file -> file.equals(CLOCK) ? clock.lua() : read(file)));
  }

  /** Loads all scripts by name from other files than the shipped ones. */
  public static Map<String, LuaScript> all(UnaryOperator<String> files) {
    Map<String, String> texts = new HashMap<>();
    return NAMES.stream()
        .collect(
            Collectors.toUnmodifiableMap(
                name -> name, name -> load(name, file -> texts.computeIfAbsent(file, files))));
  }

  /**
   * Joins a script.
   *
   * @param files gives the text of a file by its name without {@code .lua}
   * @throws IllegalStateException naming file and line of an include that is missing or goes round
   */
  public static LuaScript load(String name, UnaryOperator<String> files) {
    StringBuilder joined = new StringBuilder();
    Joiner joiner = new Joiner(files, joined);
    joiner.join(name, "");
    byte[] text = joined.toString().getBytes(StandardCharsets.UTF_8);
    return new LuaScript(name, text, sha1(text));
  }

  private record Joiner(
      UnaryOperator<String> files, StringBuilder out, Deque<String> stack, Set<String> seen) {

    Joiner(UnaryOperator<String> files, StringBuilder out) {
      this(files, out, new ArrayDeque<>(), new HashSet<>());
    }

    // "where" says which line asks for the file, for messages.
    void join(String name, String where) {
      String text = read(name, where);
      stack.addLast(name);
      int number = 0;
      for (String line : text.lines().toList()) {
        number++;
        if (line.startsWith(INCLUDE)) {
          include(line.substring(INCLUDE.length()).strip(), name + ".lua:" + number + ": ");
        } else {
          out.append(line).append('\n');
        }
      }
      stack.removeLast();
    }

    private void include(String name, String where) {
      if (stack.contains(name)) {
        throw new IllegalStateException(
            where + "include goes round: " + String.join(" -> ", stack) + " -> " + name);
      }
      if (seen.add(name)) {
        join(name, where);
      }
    }

    private String read(String name, String where) {
      try {
        return files.apply(name);
      } catch (UncheckedIOException e) {
        throw new IllegalStateException(where + "there is no " + name + ".lua", e);
      }
    }
  }

  public static String read(String file) {
    String resource = "/io/punctual/core/lua/" + file + ".lua";
    try {
      URL url = LuaScript.class.getResource(resource);
      if (url == null) {
        throw new IOException("not on the class path: " + resource);
      }
      URLConnection connection = url.openConnection();
      // The JVM shares a cached archive among all class loaders. If one of them closes it, it is
      // closed for all.
      connection.setUseCaches(false);
      try (InputStream in = connection.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sha1(byte[] text) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
