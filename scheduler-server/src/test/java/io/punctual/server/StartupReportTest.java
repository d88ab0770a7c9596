package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.DispatchProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.mock.env.MockEnvironment;

@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
class StartupReportTest {

  private static final String EMPTY = "punctual.dispatch.allowed-networks is empty";

  private final MockEnvironment environment = new MockEnvironment();

  private void report() {
    // Never started: Redis does not answer.
    JedisConnectionFactory connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", 1));
    new StartupReport(
            connections,
            environment,
            Binder.get(environment).bindOrCreate("punctual.dispatch", DispatchProperties.class))
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
    environment.setProperty("eureka.client.enabled", "false");
    environment.setProperty("spring.cloud.zookeeper.enabled", "true");
    environment.setProperty("spring.cloud.zookeeper.connect-string", "zookeeper-1:2181");
    report();

    assertThat(output).contains("registry ZooKeeper zookeeper-1:2181");
    environment.setProperty("spring.cloud.consul.enabled", "true");
    environment.setProperty("spring.cloud.consul.host", "consul-1");
    environment.setProperty("spring.cloud.consul.port", "8500");
    report();

    assertThat(output).contains("registry ZooKeeper zookeeper-1:2181 and Consul consul-1:8500");
    environment.setProperty("spring.cloud.nacos.discovery.enabled", "true");
    environment.setProperty("spring.cloud.nacos.discovery.server-addr", "nacos-1:8848");
    report();

    assertThat(output).contains(" and Consul consul-1:8500 and Nacos nacos-1:8848");
  }

  @Test
  void norDoesAQuickstart(CapturedOutput output) {
    environment.setActiveProfiles("quickstart");
    report();

    assertThat(output).contains("Punctual scheduler is up").doesNotContain(EMPTY);
  }
}
