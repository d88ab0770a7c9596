package io.punctual.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;

class TomcatSetupTest {

  private static final long MB = 1024 * 1024;

  @ParameterizedTest
  @CsvSource({
    "20000, 4096, 20000",
    "20000, 512, 8192",
    "20000, 128, 2048",
    "20000, 16, 1000",
    "500, 4096, 500",
    "500, 16, 500"
  })
  void aSmallHeapAllowsFewerConnections(int configured, long heapMb, int allowed) {
    assertThat(TomcatSetup.connections(configured, heapMb * MB)).isEqualTo(allowed);
  }

  @Test
  void theConnectorTakesThatManyConnections() {
    TomcatServletWebServerFactory factory = new TomcatServletWebServerFactory();
    new TomcatSetup().customize(factory);
    Connector connector = new Connector();
    AbstractProtocol<?> protocol = (AbstractProtocol<?>) connector.getProtocolHandler();
    protocol.setMaxConnections(10_000_000);

    factory.getConnectorCustomizers().forEach(customizer -> customizer.customize(connector));

    assertThat(protocol.getMaxConnections())
        .isEqualTo(TomcatSetup.connections(10_000_000, Runtime.getRuntime().maxMemory()))
        .isLessThan(10_000_000);
  }
}
