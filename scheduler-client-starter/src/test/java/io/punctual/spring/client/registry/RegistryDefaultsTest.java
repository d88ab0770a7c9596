package io.punctual.spring.client.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.MapPropertySource;
import org.springframework.mock.env.MockEnvironment;

class RegistryDefaultsTest {

  private static final String SECURE = "eureka.instance.secure-port-enabled";
  private static final String ZOOKEEPER = "spring.cloud.zookeeper.discovery.instance-ssl-port";
  private static final String HEARTBEAT = "eureka.instance.lease-renewal-interval-in-seconds";
  private static final String FETCH = "eureka.client.registry-fetch-interval-seconds";
  private static final String PLAIN = "eureka.instance.non-secure-port-enabled";

  @Test
  void anApplicationThatSpeaksHttpsIsRegisteredSo() {
    for (String certificate : new String[] {"bundle", "key-store", "certificate"}) {
      MockEnvironment environment =
          withDefaults(new MockEnvironment().withProperty("server.ssl." + certificate, "x"));
      assertThat(environment.getProperty(SECURE)).isEqualTo("true");
      assertThat(environment.getProperty(PLAIN)).isEqualTo("false");
      assertThat(environment.getProperty("spring.cloud.consul.discovery.scheme"))
          .isEqualTo("https");
      assertThat(environment.getProperty("spring.cloud.nacos.discovery.secure")).isEqualTo("true");
    }
  }

  @Test
  void anApplicationThatDoesNotIsNot() {
    assertThat(withDefaults(new MockEnvironment()).getProperty(SECURE)).isNull();
    MockEnvironment off =
        new MockEnvironment()
            .withProperty("server.ssl.bundle", "x")
            .withProperty("server.ssl.enabled", "false");
    assertThat(withDefaults(off).getProperty(SECURE)).isNull();
  }

  @Test
  void whatTheApplicationSaysWins() {
    MockEnvironment environment =
        new MockEnvironment()
            .withProperty("server.ssl.bundle", "x")
            .withProperty(PLAIN, "true")
            .withProperty(SECURE, "false");
    assertThat(withDefaults(environment).getProperty(SECURE)).isEqualTo("false");
    assertThat(withDefaults(environment).getProperty(PLAIN)).isEqualTo("true");
  }

  @Test
  void zooKeeperHearsOfTlsAndItsPort() {
    MockEnvironment environment = new MockEnvironment().withProperty("server.ssl.bundle", "x");
    assertThat(withDefaults(environment).getProperty(ZOOKEEPER)).isEqualTo("8080");
    environment = new MockEnvironment().withProperty("server.ssl.bundle", "x");
    environment.setProperty("server.port", "8443");
    assertThat(withDefaults(environment).getProperty(ZOOKEEPER)).isEqualTo("8443");
    // The port is not known yet.
    environment = new MockEnvironment().withProperty("server.ssl.bundle", "x");
    environment.setProperty("server.port", "0");
    assertThat(withDefaults(environment).getProperty(ZOOKEEPER)).isNull();
  }

  @Test
  void intervalsAreThoseOfEurekaUnlessTheApplicationWantsThemFast() {
    MockEnvironment asked = new MockEnvironment().withProperty("punctual.eureka.fast", "true");
    assertThat(withDefaults(asked).getProperty(HEARTBEAT)).isEqualTo("5");
    assertThat(asked.getProperty(FETCH)).isEqualTo("5");

    MockEnvironment own =
        new MockEnvironment().withProperty("punctual.eureka.fast", "true").withProperty(FETCH, "9");
    assertThat(withDefaults(own).getProperty(FETCH)).isEqualTo("9");

    for (MockEnvironment unasked :
        new MockEnvironment[] {
          new MockEnvironment(), new MockEnvironment().withProperty("punctual.eureka.fast", "false")
        }) {
      assertThat(
              withDefaults(unasked).getPropertySources().stream()
                  .filter(source -> source.getName().equals("punctualRegistryDefaults"))
                  .flatMap(source -> Stream.of(((MapPropertySource) source).getPropertyNames())))
          .containsExactlyInAnyOrder(
              "logging.level.com.netflix.discovery.shared.transport",
              "spring.cloud.nacos.discovery.fail-fast");
    }
  }

  @Test
  void anApplicationThatSwitchesTheStarterOffKeepsItsOwnEureka() {
    MockEnvironment off =
        new MockEnvironment()
            .withProperty("server.ssl.bundle", "x")
            .withProperty("punctual.eureka.fast", "true")
            .withProperty("punctual.enabled", "false");
    int before = off.getPropertySources().size();

    assertThat(withDefaults(off).getPropertySources()).hasSize(before);
    assertThat(off.getProperty(HEARTBEAT)).isNull();
    assertThat(off.getProperty(SECURE)).isNull();
  }

  private static MockEnvironment withDefaults(MockEnvironment environment) {
    new RegistryDefaults().postProcessEnvironment(environment, new SpringApplication());
    return environment;
  }
}
