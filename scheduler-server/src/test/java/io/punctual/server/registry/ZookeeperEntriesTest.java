package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;

class ZookeeperEntriesTest {

  private final ZookeeperEntries entries = new ZookeeperEntries();

  private static ServiceInstance<ZookeeperInstance> instance() throws Exception {
    return ServiceInstance.<ZookeeperInstance>builder()
        .name("shop")
        .id("one")
        .address("10.0.0.7")
        .port(8080)
        .uriSpec(new UriSpec("{scheme}://{address}:{port}"))
        .payload(new ZookeeperInstance("a", "shop", Map.of("punctual-callback", "/callback")))
        .build();
  }

  @Test
  void whatSpringCloudWritesIsRead() throws Exception {
    byte[] theirs = new JsonInstanceSerializer<>(ZookeeperInstance.class).serialize(instance());

    ServiceInstance<ZookeeperInstance> read = entries.deserialize(theirs);

    assertThat(read).isNotNull();
    assertThat(read.getAddress()).isEqualTo("10.0.0.7");
    assertThat(read.getPayload().getMetadata()).containsEntry("punctual-callback", "/callback");
    assertThat(entries.serialize(instance())).asString(StandardCharsets.UTF_8).contains("@class");
  }

  @Test
  void aClassThatAnEntryNamesIsNotMade() throws Exception {
    String theirs =
        new String(
            new JsonInstanceSerializer<>(ZookeeperInstance.class).serialize(instance()),
            StandardCharsets.UTF_8);
    Made.times = 0;
    String other = theirs.replace(ZookeeperInstance.class.getName(), Made.class.getName());
    assertThat(other).isNotEqualTo(theirs);

    assertThat(entries.deserialize(other.getBytes(StandardCharsets.UTF_8))).isNull();
    assertThat(Made.times).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "no JSON",
        "[]",
        "{}",
        "{\"name\":\"shop\",\"id\":\"one\",\"address\":\"10.0.0.7\",\"port\":null}"
      })
  void whatIsNoInstanceIsLeftOut(String bytes) {
    assertThat(entries.deserialize(bytes.getBytes(StandardCharsets.UTF_8))).isNull();
  }

  /** What an entry may name. */
  public static final class Made {
    static int times;

    /** Counts. */
    public Made() {
      times++;
    }

    /** Jackson sets it. */
    public void setId(String id) {}
  }
}
