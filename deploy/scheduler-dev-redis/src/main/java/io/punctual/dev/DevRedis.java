package io.punctual.dev;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A redis-server process that lives as long as the application's context. */
final class DevRedis implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(DevRedis.class);

  private final FileChannel lock;
  private final RedisServer server;

  private DevRedis(FileChannel lock, RedisServer server) {
    this.lock = lock;
    this.server = server;
  }

  /**
   * Starts it.
   *
   * @param directory where its data stays between starts; of one running application at a time
   * @throws DevRedisException if another application has the directory, or Redis does not come up
   */
  static DevRedis start(Path directory) {
    FileChannel lock = lock(directory);
    try {
      RedisServer server =
          RedisServer.start(
              Ports.free(),
              directory,
              "--appendonly",
              "yes",
              "--save",
              "",
              "--maxmemory-policy",
              "noeviction");
      // The context's end is its end: until then its jobs are run to their end, and stored.
      server.endsWhenClosed();
      log.info(
          "A Redis for development, not for production: {}, 127.0.0.1:{}, data in {} (profile dev;"
              + " not used where spring.data.redis names one)",
          server.description(),
          server.port(),
          directory);
      return new DevRedis(lock, server);
    } catch (RuntimeException e) {
      release(lock);
      throw new DevRedisException(
          "The Redis of the profile dev did not start: " + e.getMessage(),
          "Correct this, or name your own Redis with spring.data.redis.host.",
          e);
    }
  }

  private static FileChannel lock(Path directory) {
    try {
      Files.createDirectories(directory);
      FileChannel channel =
          FileChannel.open(
              directory.resolve("punctual.lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
      FileLock held = tryLock(channel);
      if (held == null) {
        release(channel);
        throw new DevRedisException(
            "Another application that runs now has its Redis of the profile dev in "
                + directory
                + ".",
            "End it. Or let this one use its Redis, whose port is in its log, with"
                + " spring.data.redis.host=127.0.0.1 and spring.data.redis.port. Or, if it is another"
                + " application, give it another spring.application.name.",
            null);
      }
      return channel;
    } catch (IOException e) {
      throw new DevRedisException(
          "The directory " + directory + " for the Redis of the profile dev cannot be used: " + e,
          "Make it writable, start the application in another working directory, or name your own"
              + " Redis with spring.data.redis.host.",
          e);
    }
  }

  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // Another context of this process.
      return null;
    }
  }

  private static void release(FileChannel lock) {
    try {
      lock.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.close();
    release(lock);
  }
}
