package io.punctual.core.store.redis;

import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sees which commands servers execute, those within scripts as well. Before version 7, Redis counts
 * a command's subcommands as one.
 */
final class CommandWatch {

  private static final Pattern COUNT = Pattern.compile("cmdstat_([^:]+):calls=(\\d+).*");
  private static final Pattern REFUSAL = Pattern.compile("(?m)^object\n(.*)$");
  // Called by whoever watches, or by anybody without a right to it.
  private static final Set<String> NOT_THEIRS =
      Set.of(
          "config|resetstat",
          "script|flush",
          "client|kill",
          "client|list",
          "acl|setuser",
          "acl|log",
          "cluster|setslot",
          "cluster|keyslot",
          "cluster|myid",
          "del",
          "auth",
          "hello",
          "quit");

  private final List<Integer> ports;

  CommandWatch(List<Integer> ports) {
    this.ports = ports;
    ports.forEach(port -> call(port, "CONFIG", "RESETSTAT"));
  }

  /** Whether subcommands are counted each on its own. */
  boolean isFine() {
    return !call(ports.get(0), "INFO", "server").contains("redis_version:6.");
  }

  /** What others called. */
  Set<String> executed() {
    Set<String> commands = new TreeSet<>();
    for (int port : ports) {
      for (String line : call(port, "INFO", "commandstats").lines().toList()) {
        Matcher count = COUNT.matcher(line.strip());
        if (count.matches() && !count.group(2).equals("0")) {
          commands.add(count.group(1));
        }
      }
    }
    commands.removeAll(known(NOT_THEIRS));
    return commands;
  }

  /** What others had no right to: commands, keys, channels. */
  Set<String> refused() {
    Set<String> objects = new TreeSet<>();
    for (int port : ports) {
      Matcher entry = REFUSAL.matcher(call(port, "ACL", "LOG"));
      while (entry.find()) {
        objects.add(entry.group(1));
      }
    }
    return objects;
  }

  /** Commands as this server counts them. */
  Set<String> known(Set<String> commands) {
    Set<String> known = new TreeSet<>();
    for (String command : commands) {
      known.add(isFine() ? command : command.replaceFirst("\\|.*", ""));
    }
    return known;
  }

  private static String call(int port, String... words) {
    try {
      return Resp.call(port, words);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
