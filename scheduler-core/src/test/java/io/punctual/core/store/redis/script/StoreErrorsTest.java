package io.punctual.core.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.core.store.StoreException;
import io.punctual.core.store.StoreException.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.RedisConnectionFailureException;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisClusterOperationException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

class StoreErrorsTest {

  private static StoreException translated(RuntimeException thrown) {
    return catchThrowableOfType(
        StoreException.class,
        () ->
            StoreErrors.translated(
                "claim on shop/order.close#0",
                () -> {
                  throw thrown;
                }));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          REFUSED | OOM command not allowed when used memory > 'maxmemory'. script: ab, on @user_script:3.
          REFUSED | ERR Error running script (call to f_ab): @user_script:3: -OOM command not allowed
          REFUSED | READONLY You can't write against a read only replica.
          REFUSED | ERR Error running script (call to f_ab): @user_script:3: -READONLY You can't write
          REFUSED | LOADING Redis is loading the dataset in memory
          REFUSED | BUSY Redis is busy running a script.
          REFUSED | MISCONF Redis is configured to save RDB snapshots, but it is unable to persist
          REFUSED | CLUSTERDOWN The cluster is down
          REFUSED | TRYAGAIN Multiple keys request during rehashing of slot
          REFUSED | NOREPLICAS Not enough good replicas to write.
          REFUSED | NOPERM this user has no permissions
          REFUSED | ERR max number of clients reached
          CORRUPT | WRONGTYPE punctual:{a:b:0}:jobs is a list, not a hash
          CORRUPT | ERR Error running script (call to f_ab): @user_script:3: -WRONGTYPE Operation
          CORRUPT | ERR something new
          """)
  void aReplySaysHowToGoOn(Kind kind, String reply) {
    StoreException bare = translated(new JedisDataException(reply));
    assertThat(bare.kind()).isEqualTo(kind);
    assertThat(bare)
        .hasMessageStartingWith("claim on shop/order.close#0: ")
        .hasMessageContaining(reply);

    StoreException wrapped =
        translated(new InvalidDataAccessApiUsageException("x", new JedisDataException(reply)));
    assertThat(wrapped.kind()).isEqualTo(kind);
  }

  @Test
  void aWordInsideAReplyIsNoCode() {
    assertThat(translated(new JedisDataException("ERR the id BUSY or OOM is odd")).kind())
        .isEqualTo(Kind.CORRUPT);
    assertThat(translated(new JedisDataException("BUSYKEY Target key exists")).kind())
        .isEqualTo(Kind.CORRUPT);
  }

  @Test
  void anOldRedisIsNamedAsTheCause() {
    assertThat(translated(new JedisDataException("ERR Unknown Redis command called from script")))
        .hasMessageEndingWith("; Punctual needs Redis 6.2 or newer");
  }

  @Test
  void aLostConnectionLeavesItOpenWhatHappened() {
    StoreException lost =
        translated(
            new RedisConnectionFailureException(
                "x", new JedisConnectionException("Unexpected end of stream.")));
    assertThat(lost.kind()).isEqualTo(Kind.UNREACHABLE);
    assertThat(lost)
        .hasMessage(
            "claim on shop/order.close#0: Redis gave no answer: JedisConnectionException:"
                + " Unexpected end of stream.");
    assertThat(translated(new IllegalStateException("the factory was stopped")).kind())
        .isEqualTo(Kind.UNREACHABLE);
  }

  @Test
  void aSlotThatIsStillElsewhereWasNotServed() {
    HostAndPort node = new HostAndPort("127.0.0.1", 1);
    assertThat(
            translated(
                    new JedisClusterOperationException(
                        "No more cluster attempts left.",
                        new JedisMovedDataException("MOVED 5 127.0.0.1:1", node, 5)))
                .kind())
        .isEqualTo(Kind.REFUSED);
  }

  @Test
  void ourOwnMistakesAreNotBlamedOnRedis() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                StoreErrors.translated(
                    "x",
                    () -> {
                      throw new IllegalArgumentException("ours");
                    }));
  }
}
