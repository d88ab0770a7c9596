package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.script.Keys;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Something else uses one of the keys of a bucket: a call that needs it says so and changes
 * nothing; any other does what it does where that key is empty.
 */
class ForeignTypesIT extends TransitionTestBase {

  static Stream<Arguments> everyCallOnEveryKey() {
    return Calls.all().keySet().stream()
        .flatMap(call -> Keys.SUFFIXES.stream().map(suffix -> Arguments.of(call, suffix)));
  }

  @ParameterizedTest
  @MethodSource("everyCallOnEveryKey")
  void aKeyOfAForeignTypeIsNamedAndNothingChanged(String call, String suffix) {
    Bucket without = new Bucket(bucket.queue(), 1);
    client.set(reader.key(without, "now"), Keys.bytes(Long.toString(NOW)));
    for (String other : Keys.SUFFIXES) {
      if (!other.equals(suffix)) {
        reader.write(bucket, someOf(other));
        reader.write(without, someOf(other));
      }
    }
    byte[] key = reader.key(bucket, suffix);
    client.rpush(key, bytes("foreign"));
    BucketState before = reader.read(bucket);

    StoreException refused =
        catchThrowableOfType(StoreException.class, () -> Calls.make(call, store, bucket));

    assertThat(client.lrange(key, 0, -1)).containsExactly(bytes("foreign"));
    if (refused == null) {
      Calls.make(call, store, without);
      then(reader.read(without).with(suffix, "(a list)", ""));
      return;
    }
    assertThat(refused.kind()).isEqualTo(StoreException.Kind.CORRUPT);
    assertThat(refused)
        .hasMessageContaining(call + " on " + bucket)
        .hasMessageContaining(new String(key, StandardCharsets.UTF_8) + " is a list, not a ");
    then(before);
  }

  @Test
  void noCallWorksUntilTheKeyIsMended() {
    byte[] key = reader.key(bucket, "tries");
    client.rpush(key, bytes("foreign"));
    assertThat(store.stats(bucket).delayed()).isZero();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> Calls.make("requeue", store, bucket));

    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> store.stats(bucket))
        .withMessageContaining("tries is a list, not a hash");
    client.del(key);
    assertThat(store.stats(bucket).delayed()).isZero();
  }

  /** A job that each call would change, as far as it is in that key. */
  private static BucketState someOf(String suffix) {
    BucketState whole =
        bucket()
            .delayed("the-id", NOW)
            .reserved("the-id", NOW, "the-token 1 0 990000 980000 2 me")
            .dead("the-id", NOW)
            .tries("the-id", "0 0 1 1 1 0 5 3")
            .error("the-id", "5 failed retry 1 990000 2\nno")
            .tomb("the-id", NOW - 1, "D", "x", 5)
            .counted("done", 7);
    BucketState some = bucket();
    for (var value : whole.values(suffix).entrySet()) {
      some = some.with(suffix, value.getKey(), value.getValue());
    }
    return some;
  }
}
