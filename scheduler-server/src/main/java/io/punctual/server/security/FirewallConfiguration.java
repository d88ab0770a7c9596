package io.punctual.server.security;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;

/** Refuses addresses that mean different things to different programs. */
@Configuration(proxyBeanMethods = false)
class FirewallConfiguration {

  @Bean
  HttpFirewall httpFirewall() {
    StrictHttpFirewall firewall = new StrictHttpFirewall();
    // Which methods a path takes, the API says itself, with Allow.
    firewall.setUnsafeAllowAnyHttpMethod(true);
    return firewall;
  }
}
