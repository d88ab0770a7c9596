package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.core.store.redis.script.LuaScript;
import io.punctual.redis.RedisServer;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** After a store is made, no script is read. */
class ScriptFilesIT {

  /** Loads the engine anew, and hides its scripts on demand. */
  private static final class EngineLoader extends URLClassLoader {

    private volatile boolean hidden;

    EngineLoader() {
      super(
          new URL[] {
            LuaScript.class.getProtectionDomain().getCodeSource().getLocation(),
            ScriptFilesIT.class.getProtectionDomain().getCodeSource().getLocation()
          });
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("io.punctual.core.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }

    @Override
    public URL getResource(String name) {
      return hidden && name.endsWith(".lua") ? null : super.getResource(name);
    }
  }

  @Test
  void allThatIsAskedIsAnsweredWithoutTheFiles() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary();
        EngineLoader loader = new EngineLoader()) {
      JedisConnectionFactory connections =
          StandaloneStoreIT.started(
              new JedisConnectionFactory(
                  new RedisStandaloneConfiguration("127.0.0.1", redis.port())));
      Class<?> type = loader.loadClass(AllThatIsAsked.class.getName());
      assertThat(type).isNotEqualTo(AllThatIsAsked.class);
      Constructor<?> made =
          type.getDeclaredConstructor(RedisConnectionFactory.class, String.class, List.class);
      made.setAccessible(true);
      Object asked = made.newInstance(connections, "punctual", List.of(redis.port()));

      loader.hidden = true;

      Method read =
          loader.loadClass(LuaScript.class.getName()).getDeclaredMethod("read", String.class);
      assertThatThrownBy(() -> read.invoke(null, "claim"))
          .cause()
          .isInstanceOf(UncheckedIOException.class);
      Method ask = type.getDeclaredMethod("ask");
      ask.setAccessible(true);
      ask.invoke(asked);
      connections.destroy();
    }
  }
}
