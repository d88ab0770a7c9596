package io.punctual.server.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The command gets its password from a variable, where no other user of the machine sees it. */
class ImportCommandIT {

  private static String look(RedisServer redis, Map<String, String> environment) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    int unused =
        new ImportCommand(environment::get, out, out)
            .run(
                List.of(
                    "sorted-set",
                    "redis://127.0.0.1:" + redis.port(),
                    "kept",
                    "--application=shop",
                    "--task-type=order.close",
                    "--dry-run"));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void thePasswordMayBeInTheEnvironment() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary()) {
      assertThat(Resp.call(redis.port(), "ZADD", "kept", "2000000000000", "a")).isEqualTo("1");
      assertThat(Resp.call(redis.port(), "CONFIG", "SET", "requirepass", "s3cret")).isEqualTo("OK");

      assertThat(look(redis, Map.of())).contains("NOAUTH").doesNotContain("1 would be moved");
      assertThat(look(redis, Map.of("PUNCTUAL_IMPORT_PASSWORD", "s3cret")))
          .contains("1 would be moved, and 0 be refused.");
    }
  }
}
