package io.punctual.core.store.redis.script;

import java.util.ArrayList;
import java.util.List;

/** The ARGV of a call. */
public final class Arguments {

  private final List<byte[]> values;

  public Arguments() {
    this(10);
  }

  /**
   * @param expected how many there will be, more or less
   */
  public Arguments(int expected) {
    values = new ArrayList<>(expected);
  }

  public Arguments add(String text) {
    values.add(Keys.bytes(text));
    return this;
  }

  public Arguments add(long number) {
    return add(Long.toString(number));
  }

  public Arguments add(boolean flag) {
    return add(flag ? "1" : "0");
  }

  public Arguments add(byte[] bytes) {
    values.add(bytes);
    return this;
  }

  /** Keys and arguments in one array, as Redis wants them. */
  public byte[][] behind(List<byte[]> keys) {
    byte[][] all = new byte[keys.size() + values.size()][];
    int index = 0;
    for (byte[] key : keys) {
      all[index++] = key;
    }
    for (byte[] value : values) {
      all[index++] = value;
    }
    return all;
  }
}
