package io.punctual.server.api;

import org.apache.catalina.core.StandardHost;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * Lets Tomcat's own errors be problem documents too, and a client that asks before it sends a body
 * (Expect: 100-continue) be told no before it does; and whoever sends one too slowly is let go.
 */
@Component
class TomcatSetup implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

  @Override
  public void customize(ConfigurableTomcatWebServerFactory factory) {
    factory.addConnectorCustomizers(
        connector -> connector.setProperty("continueResponseTiming", "onRead"));
    factory.addContextCustomizers(
        context -> {
          ((StandardHost) context.getParent())
              .setErrorReportValveClass(ProblemValve.class.getName());
          context.getPipeline().addValve(new RequestGuard());
        });
  }
}
