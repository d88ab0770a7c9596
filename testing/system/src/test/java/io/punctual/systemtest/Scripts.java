package io.punctual.systemtest;

import io.punctual.redis.Resp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The scheduler's scripts, by the hashes that Redis has for them. */
final class Scripts {

  private static final Path SOURCES = ModuleDirectory.root().resolve("scheduler-core/src/main/lua");
  private static final String INCLUDE = "--- @include ";

  private final int redisPort;
  private final Map<String, String> hashes = new ConcurrentHashMap<>();

  /** Those of a Redis, which learns them here if it has not run them yet. */
  Scripts(int redisPort) {
    this.redisPort = redisPort;
  }

  /** What a call of the script names it by. */
  String hash(String name) throws IOException {
    String known = hashes.get(name);
    if (known != null) {
      return known;
    }
    StringBuilder text = new StringBuilder();
    join(name, text, new HashSet<>());
    String hash = Resp.call(redisPort, "SCRIPT", "LOAD", text.toString());
    hashes.put(name, hash);
    return hash;
  }

  /** Each file once, as the scheduler does it: other text would have another hash. */
  private static void join(String name, StringBuilder text, Set<String> seen) throws IOException {
    if (!seen.add(name)) {
      return;
    }
    for (String line : Files.readAllLines(SOURCES.resolve(name + ".lua"))) {
      if (line.startsWith(INCLUDE)) {
        join(line.substring(INCLUDE.length()).strip(), text, seen);
      } else {
        text.append(line).append('\n');
      }
    }
  }
}
