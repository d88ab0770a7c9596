package io.punctual.server.registry;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import io.punctual.server.text.PrintableException;
import java.io.IOException;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.details.InstanceSerializer;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.discovery.ZookeeperServiceInstance;

/**
 * Reads and writes entries of ZooKeeper as Spring Cloud does, but leaves out what cannot be read:
 * in Curator's own reader, one such entry hides its whole application. An entry names the class of
 * its payload. Only Spring Cloud's is made.
 */
final class ZookeeperEntries implements InstanceSerializer<ZookeeperInstance> {

  private static final Logger log = LoggerFactory.getLogger(ZookeeperEntries.class);

  private final InstanceSerializer<ZookeeperInstance> writer =
      new JsonInstanceSerializer<>(ZookeeperInstance.class);
  private final ObjectMapper mapper =
      JsonMapper.builder()
          .polymorphicTypeValidator(
              BasicPolymorphicTypeValidator.builder()
                  .allowIfSubType(ZookeeperInstance.class)
                  .build())
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();
  private final JavaType type = mapper.getTypeFactory().constructType(ServiceInstance.class);

  @Override
  public byte[] serialize(ServiceInstance<ZookeeperInstance> instance) throws Exception {
    return writer.serialize(instance);
  }

  /**
   * Returns null, which Curator's readers leave out, for what is no instance that can be called.
   */
  @Override
  @SuppressWarnings("NullAway") // Curator's type says nothing of null.
  public @Nullable ServiceInstance<ZookeeperInstance> deserialize(byte[] bytes) {
    try {
      ServiceInstance<ZookeeperInstance> read = mapper.readValue(bytes, type);
      // Throws where host, port or address make no URL.
      var unused = new ZookeeperServiceInstance(read.getName(), read);
      return read;
    } catch (IOException | RuntimeException e) {
      log.debug("An entry of ZooKeeper is left out: {}", PrintableException.text(e));
      return null;
    }
  }
}
