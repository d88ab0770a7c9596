package io.punctual.core.store.redis;

import io.punctual.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Lists, on a Redis that orders letters by a locale. */
@Tag("full")
class LocaleListIT extends ListContract {

  private static final RedisServer SERVER = LocaleRedis.start();
  private static final Connected REDIS = Connected.to("127.0.0.1", SERVER.port());

  LocaleListIT() {
    super(REDIS);
  }

  @AfterAll
  static void stop() {
    REDIS.client().close();
    SERVER.close();
  }
}
