package io.punctual.core.store.redis.script;

/**
 * Where scripts take the time from: the text that stands in the place of {@code lib/now}. Only
 * tests use another one than {@link #REDIS}; theirs reads a key which they move.
 *
 * @param lua defines the local function {@code now_ms()}, which returns epoch milliseconds
 * @param keySuffix when not empty, scripts get one more key, the bucket's prefix with this suffix,
 *     as the last of its {@code KEYS}
 */
public record TimeSource(String lua, String keySuffix) {

  /** Redis's own {@code TIME}. */
  public static final TimeSource REDIS = new TimeSource(LuaScript.read("lib/now"), "");
}
