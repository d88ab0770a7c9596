package io.punctual.core.store.redis;

import io.punctual.core.calendar.CalendarStore;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.RedisCalls;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** All calendars in one hash. */
final class RedisCalendarStore implements CalendarStore {

  private final Keys keys;
  private final RedisCalls calls;
  private final String place;

  RedisCalendarStore(RedisConnectionFactory connections, Keys keys, StoreCalls calls) {
    this.keys = keys;
    this.calls = new RedisCalls(connections, calls, "calendars");
    this.place = " in " + text(keys.calendars());
  }

  @Override
  public Map<String, String> all() {
    return calls.make(
        "list calendars" + place,
        connection -> {
          Map<String, String> all = new TreeMap<>();
          Map<byte[], byte[]> found = connection.hashCommands().hGetAll(keys.calendars());
          if (found != null) {
            found.forEach((name, dates) -> all.put(text(name), text(dates)));
          }
          return all;
        });
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public void put(String name, String text) {
    var unused =
        calls.make(
            "put the calendar " + name + place,
            connection ->
                Boolean.TRUE.equals(
                    connection
                        .hashCommands()
                        .hSet(keys.calendars(), Keys.bytes(name), Keys.bytes(text))));
  }

  @Override
  public boolean delete(String name) {
    return calls.make(
        "delete the calendar " + name + place,
        connection -> {
          Long deleted = connection.hashCommands().hDel(keys.calendars(), Keys.bytes(name));
          return deleted != null && deleted > 0;
        });
  }
}
