package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.DispatchProperties;
import io.punctual.server.registry.InstanceSource;
import io.punctual.server.registry.Registries;
import io.punctual.server.registry.RegistrySource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryProperties;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.mock.env.MockEnvironment;

@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
class StartupReportTest {

  private static final String EMPTY = "punctual.dispatch.allowed-networks is empty";

  private final MockEnvironment environment = new MockEnvironment();

  private void report(String... registries) {
    DiscoveryClient client = new SimpleDiscoveryClient(new SimpleDiscoveryProperties());
    List<InstanceSource> sources = new ArrayList<>();
    for (String name : registries) {
      sources.add(new RegistrySource(name, client));
    }
    // Never started: Redis does not answer.
    JedisConnectionFactory connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", 1));
    new StartupReport(
            connections,
            environment,
            Binder.get(environment).bindOrCreate("punctual.dispatch", DispatchProperties.class),
            new Registries(sources, List.of()))
        .report();
  }

  @Test
  void aSchedulerThatMayCallEveryAddressSaysSo(CapturedOutput output) {
    report();

    assertThat(output).contains("Punctual scheduler is up", EMPTY);
  }

  @Test
  void aSchedulerWithNetworksDoesNot(CapturedOutput output) {
    environment.setProperty("punctual.dispatch.allowed-networks", "10.0.0.0/8");
    report();

    assertThat(output).contains("Punctual scheduler is up").doesNotContain(EMPTY);
  }

  @Test
  void eachRegistryThatIsUsedIsNamed(CapturedOutput output) {
    environment.setProperty("spring.cloud.zookeeper.connect-string", "zookeeper-1:2181");
    environment.setProperty("spring.cloud.consul.host", "consul-1");
    environment.setProperty("spring.cloud.consul.port", "8500");
    environment.setProperty("spring.cloud.nacos.discovery.server-addr", "nacos-1:8848");
    report("configuration", "kubernetes", "nacos", "consul", "zookeeper");

    assertThat(output)
        .contains(
            "registry ZooKeeper zookeeper-1:2181 and Consul consul-1:8500 and Nacos nacos-1:8848"
                + " and Kubernetes");
  }

  @Test
  void thatThereIsNoneIsSaid(CapturedOutput output) {
    report("configuration");

    assertThat(output).contains("registry none (eureka.client.enabled=false)");
  }

  @Test
  void norDoesAQuickstart(CapturedOutput output) {
    environment.setActiveProfiles("quickstart");
    report();

    assertThat(output).contains("Punctual scheduler is up").doesNotContain(EMPTY);
  }
}
