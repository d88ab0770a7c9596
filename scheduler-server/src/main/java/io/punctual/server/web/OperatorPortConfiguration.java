package io.punctual.server.web;

import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.AbstractProtocol;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.tomcat.TomcatConnectorCustomizer;
import org.springframework.boot.tomcat.TomcatContextCustomizer;
import org.springframework.boot.tomcat.TomcatProtocolHandlerCustomizer;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.servlet.ServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Opens a second port for operators, with connections of its own. What strangers or applications do
 * to the first one keeps health, metrics and console from nobody there.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("punctual.operator-port")
class OperatorPortConfiguration {

  /** Those of operators, of what collects metrics, and of what looks at the health. */
  private static final int MAX_CONNECTIONS = 200;

  @Bean
  ServletWebServerFactory webServerFactory(
      WebProperties properties,
      ObjectProvider<TomcatConnectorCustomizer> connectors,
      ObjectProvider<TomcatContextCustomizer> contexts,
      ObjectProvider<TomcatProtocolHandlerCustomizer<?>> protocols) {
    Integer port = properties.operatorPort();
    if (port == null) {
      throw new IllegalStateException("punctual.operator-port is set, and has no value");
    }
    TomcatServletWebServerFactory factory = new WithOperatorPort(port);
    connectors.orderedStream().forEach(factory::addConnectorCustomizers);
    contexts.orderedStream().forEach(factory::addContextCustomizers);
    protocols.orderedStream().forEach(factory::addProtocolHandlerCustomizers);
    return factory;
  }

  private static final class WithOperatorPort extends TomcatServletWebServerFactory {

    private final int operatorPort;

    WithOperatorPort(int operatorPort) {
      this.operatorPort = operatorPort;
    }

    @Override
    protected TomcatWebServer getTomcatWebServer(Tomcat tomcat) {
      Connector connector = new Connector(DEFAULT_PROTOCOL);
      // As the first one: address, TLS, threads.
      customizeConnector(connector);
      connector.setPort(operatorPort);
      if (connector.getProtocolHandler() instanceof AbstractProtocol<?> protocol) {
        protocol.setMaxConnections(MAX_CONNECTIONS);
      }
      tomcat.getService().addConnector(connector);
      return super.getTomcatWebServer(tomcat);
    }
  }
}
