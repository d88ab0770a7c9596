package io.punctual.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedisServerIT {

  @TempDir Path directory;

  @AfterEach
  void noWishLeft() {
    System.clearProperty("punctual.redis.binary");
  }

  @Test
  void dataSurvivesAKillAndARestartOnTheSamePort() throws Exception {
    try (RedisServer server = RedisServer.startTemporary()) {
      Resp.call(server.port(), "SET", "a", "1");
      server.kill();
      server.start();

      assertThat(Resp.call(server.port(), "GET", "a")).isEqualTo("1");
    }
  }

  @Test
  void theServerInTheJarRunsAndIsNewEnough() throws Exception {
    System.setProperty("punctual.redis.binary", "embedded");
    try (RedisServer server = RedisServer.startTemporary()) {
      assertThat(server.description()).contains("embedded");
      assertThat(Resp.call(server.port(), "INFO", "server")).contains("redis_version:6.2");
    }
  }

  @Test
  void aTemporaryServerLeavesNothingBehind() throws Exception {
    String place;
    try (RedisServer server = RedisServer.startTemporary()) {
      Resp.call(server.port(), "SET", "a", "1");
      String[] answer = Resp.call(server.port(), "CONFIG", "GET", "dir").split("\\s+", -1);
      place = answer[answer.length - 1];
    }
    assertThat(Path.of(place).getFileName().toString()).startsWith("punctual-redis-data");
    assertThat(Path.of(place)).doesNotExist();
  }

  @Test
  void aTakenPortIsAClearMessage() {
    try (RedisServer server = RedisServer.startTemporary()) {
      assertThatThrownBy(() -> RedisServer.start(server.port(), directory))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("port " + server.port());
    }
  }

  @Test
  void anOrphanOnTheSameDirectoryIsEndedFirst() throws Exception {
    int port = Ports.free();
    Process orphan =
        new ProcessBuilder(RedisBinary.find().path().toString(), "--port", Integer.toString(port))
            .directory(directory.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    Files.writeString(directory.resolve("punctual-redis.pid"), Long.toString(orphan.pid()));

    try (RedisServer server = RedisServer.start(Ports.free(), directory)) {
      assertThat(orphan.waitFor(10, TimeUnit.SECONDS)).isTrue();
      assertThat(Resp.call(server.port(), "PING")).isEqualTo("PONG");
    } finally {
      orphan.destroyForcibly();
    }
  }

  @Test
  void aBinaryThatDoesNotRunIsAMessageWithCures() {
    System.setProperty("punctual.redis.binary", "/nowhere/redis-server");

    assertThatThrownBy(RedisBinary::find)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("apt-get install redis-server");
  }
}
