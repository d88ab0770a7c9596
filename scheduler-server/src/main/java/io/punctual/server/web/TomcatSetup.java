package io.punctual.server.web;

import org.apache.catalina.core.StandardHost;
import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * Lets Tomcat's own errors be problem documents too, and a client that asks before it sends a body
 * (Expect: 100-continue) be told no before it does; and whoever sends one too slowly is let go.
 */
@Component
public class TomcatSetup implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

  private static final int MIN_CONNECTIONS = 1_000;
  // Buffers of a connection that says nothing, with something to spare.
  private static final int BYTES_EACH = 64 * 1024;

  /** Returns how many connections may be open at once, of those that are configured. */
  public static int connections(int configured) {
    return connections(configured, Runtime.getRuntime().maxMemory());
  }

  static int connections(int configured, long heap) {
    return (int) Math.min(configured, Math.max(MIN_CONNECTIONS, heap / BYTES_EACH));
  }

  @Override
  public void customize(ConfigurableTomcatWebServerFactory factory) {
    factory.addConnectorCustomizers(
        connector -> {
          connector.setProperty("continueResponseTiming", "onRead");
          if (connector.getProtocolHandler() instanceof AbstractProtocol<?> protocol) {
            protocol.setMaxConnections(connections(protocol.getMaxConnections()));
          }
        });
    factory.addContextCustomizers(
        context -> {
          ((StandardHost) context.getParent())
              .setErrorReportValveClass(ProblemValve.class.getName());
          context.getPipeline().addValve(new RequestGuard());
        });
  }
}
