package io.punctual.core.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.commands.KeyBinaryCommands;
import redis.clients.jedis.exceptions.JedisClusterOperationException;

class SlotLearnerTest {

  private static final byte[] KEY = Keys.bytes("key");

  private static KeyBinaryCommands client(Runnable read) {
    return (KeyBinaryCommands)
        Proxy.newProxyInstance(
            KeyBinaryCommands.class.getClassLoader(),
            new Class<?>[] {KeyBinaryCommands.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("type");
              assertThat(arguments).containsExactly(KEY);
              read.run();
              return "none";
            });
  }

  @Test
  void afterAThreadCouldNotBeStartedTheNextCallLearns() throws Exception {
    AtomicInteger errors = new AtomicInteger(1);
    SlotLearner learner =
        new SlotLearner(
            task -> {
              if (errors.getAndDecrement() > 0) {
                throw new OutOfMemoryError("of the test");
              }
              return new Thread(task);
            });
    CountDownLatch read = new CountDownLatch(1);
    KeyBinaryCommands client = client(read::countDown);

    learner.learnInBackground(client, KEY);
    learner.learnInBackground(client, KEY);

    assertThat(read.await(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aReadThatFailsIsMadeAgainByTheNextCall() {
    AtomicInteger reads = new AtomicInteger();
    SlotLearner learner = new SlotLearner();
    KeyBinaryCommands client =
        client(
            () -> {
              reads.incrementAndGet();
              throw new JedisClusterOperationException("no node has the slot");
            });

    learner.learn(client, KEY);
    learner.learn(client, KEY);

    assertThat(reads).hasValue(2);
  }

  @Test
  void oneReadIsMadeAtATime() {
    AtomicInteger reads = new AtomicInteger();
    SlotLearner learner = new SlotLearner();
    KeyBinaryCommands other = client(reads::incrementAndGet);
    KeyBinaryCommands client =
        client(
            () -> {
              learner.learn(other, KEY);
              learner.learnInBackground(other, KEY);
            });

    learner.learn(client, KEY);
    assertThat(reads).hasValue(0);
    learner.learn(other, KEY);
    assertThat(reads).hasValue(1);
  }
}
