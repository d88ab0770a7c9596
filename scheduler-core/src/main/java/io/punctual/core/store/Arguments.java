package io.punctual.core.store;

import java.util.ArrayList;
import java.util.List;

/** The ARGV of a call. */
final class Arguments {

  private final List<byte[]> values;

  Arguments() {
    this(10);
  }

  /**
   * @param expected how many there will be, more or less
   */
  Arguments(int expected) {
    values = new ArrayList<>(expected);
  }

  Arguments add(String text) {
    values.add(Keys.bytes(text));
    return this;
  }

  Arguments add(long number) {
    return add(Long.toString(number));
  }

  Arguments add(boolean flag) {
    return add(flag ? "1" : "0");
  }

  Arguments add(byte[] bytes) {
    values.add(bytes);
    return this;
  }

  /** Keys and arguments in one array, as Redis wants them. */
  byte[][] behind(List<byte[]> keys) {
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
