package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.TimeSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeysTest {

  private static final Keys KEYS = new Keys("punctual", TimeSource.REDIS);

  @Test
  void theKeysOfABucketShareOneHashTag() {
    Bucket bucket = new Bucket(new QueueName("Shop", "order.close"), 3);
    assertThat(KEYS.of(bucket).stream().map(BucketReader::text))
        .startsWith(
            "punctual:{shop:order.close:3}:jobs",
            "punctual:{shop:order.close:3}:delayed",
            "punctual:{shop:order.close:3}:reserved")
        .hasSize(15)
        .allMatch(key -> key.startsWith("punctual:{shop:order.close:3}:"));
    assertThat(BucketReader.text(KEYS.queues())).isEqualTo("punctual:queues");
    assertThat(BucketReader.text(KEYS.wakeUpChannel())).isEqualTo("punctual:wake");
  }

  @Test
  void aTestClockHasItsKeyBehindTheOthers() {
    Keys keys = new Keys("p", new TimeSource("", "now"));
    List<byte[]> all = keys.of(new Bucket(new QueueName("a", "b"), 0));
    assertThat(BucketReader.text(all.get(15))).isEqualTo("p:{a:b:0}:now");
  }

  @Test
  void noTwoQueuesShareAKey() {
    Set<String> tags = new HashSet<>();
    for (List<String> names :
        List.of(
            List.of("a:b", "c"),
            List.of("a", "b:c"),
            List.of("a", "b:c:0"),
            List.of("a:b:c", "d"),
            List.of("a", "b"),
            List.of("a", "B"))) {
      assertThat(tags.add(KEYS.tag(new Bucket(new QueueName(names.get(0), names.get(1)), 0))))
          .isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"a,b", "a:b,c", "a,:", "::,a:b:c", "a.b-c_d,E.f-G_h"})
  void namesAreReadBack(String application, String taskType) {
    Bucket bucket = new Bucket(new QueueName(application, taskType), 63);
    assertThat(Keys.parseQueue(Keys.name(bucket.queue()))).contains(bucket.queue());
    assertThat(Keys.parseBucket(Keys.name(bucket))).contains(bucket);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ":", "a", "a:b", "a:b:", "a:b:64", "a:b:-1", "a:b:x", "a:b:c:0", "a: :0"})
  void whatIsNoBucketIsIgnored(String name) {
    assertThat(Keys.parseBucket(name)).isEmpty();
  }
}
