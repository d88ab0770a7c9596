package io.punctual.core.store.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A file of Redis's users with ours, the line that docs/redis.md shows how to use. */
record AclFile(Path path, List<String> words) {

  static final String USER = "punctual";
  static final String PASSWORD = "secret";

  /** For one server, or those behind Sentinels. */
  static AclFile standalone() {
    return read(Path.of("../docs/redis.acl"));
  }

  static AclFile cluster() {
    return read(Path.of("../docs/redis-cluster.acl"));
  }

  private static AclFile read(Path path) {
    try {
      String line = Files.readString(path).strip();
      if (!line.startsWith("user " + USER + " ") || line.contains("\n")) {
        throw new AssertionError(path + " must have the one user " + USER + ", on one line");
      }
      return new AclFile(path, List.of(line.split(" ")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The commands that the user may call, as they stand there. */
  Set<String> commands() {
    Set<String> commands = new TreeSet<>();
    words.stream().filter(word -> word.startsWith("+")).forEach(w -> commands.add(w.substring(1)));
    return commands;
  }

  /** Writes the file anew, with other commands. */
  void replace(Set<String> commands) {
    List<String> all = new ArrayList<>(words);
    all.removeIf(word -> word.startsWith("+"));
    new TreeSet<>(commands).forEach(command -> all.add("+" + command));
    try {
      Files.writeString(path, String.join(" ", all) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The command that makes this user, with {@link #PASSWORD}, for keys of another prefix. */
  String[] setUser(String prefix) {
    List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", USER, "reset"));
    command.add(">" + PASSWORD);
    words.stream()
        .skip(2)
        .map(word -> word.replaceFirst("^([~&])punctual:", "$1" + prefix + ":"))
        .forEach(command::add);
    return command.toArray(String[]::new);
  }

  @Override
  public String toString() {
    return path + " " + Arrays.toString(words.toArray());
  }
}
