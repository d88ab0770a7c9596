package io.punctual.core.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A script with its includes joined in. A line {@code --- @include lib/x} is replaced by the text
 * of that file, once for each script.
 *
 * @param sha1 what Redis knows it by
 */
record LuaScript(String name, byte[] text, String sha1) {

  private static final String INCLUDE = "--- @include ";
  private static final String CLOCK = "lib/now";

  byte[] sha1Bytes() {
    return sha1.getBytes(StandardCharsets.US_ASCII);
  }

  /** Loads a script of the production set with the given clock in the place of lib/now. */
  static LuaScript load(String name, TimeSource time) {
    return load(name, file -> file.equals(CLOCK) ? time.lua() : read(file));
  }

  /**
   * Joins a script.
   *
   * @param files gives the text of a file by its name without {@code .lua}
   * @throws IllegalStateException naming file and line of an include that is missing or goes round
   */
  static LuaScript load(String name, UnaryOperator<String> files) {
    StringBuilder joined = new StringBuilder();
    join(name, files, new ArrayDeque<>(), new HashSet<>(), joined);
    byte[] text = joined.toString().getBytes(StandardCharsets.UTF_8);
    return new LuaScript(name, text, sha1(text));
  }

  private static void join(
      String name,
      UnaryOperator<String> files,
      Deque<String> stack,
      Set<String> seen,
      StringBuilder out) {
    stack.addLast(name);
    int number = 0;
    for (String line : files.apply(name).lines().toList()) {
      number++;
      if (!line.startsWith(INCLUDE)) {
        out.append(line).append('\n');
        continue;
      }
      String included = line.substring(INCLUDE.length()).strip();
      if (stack.contains(included)) {
        throw new IllegalStateException(
            name + ".lua:" + number + ": include goes round: " + stack + " -> " + included);
      }
      if (seen.add(included)) {
        try {
          join(included, files, stack, seen, out);
        } catch (UncheckedIOException e) {
          throw new IllegalStateException(
              name + ".lua:" + number + ": there is no " + included + ".lua", e);
        }
      }
    }
    stack.removeLast();
  }

  static String read(String file) {
    String resource = "/io/punctual/core/lua/" + file + ".lua";
    try (InputStream in = LuaScript.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IOException("not on the class path: " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
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
