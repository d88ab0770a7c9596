package io.punctual.server.security;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.observation.SecurityObservationSettings;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;

/** What holds with the profile quickstart and without it. */
@Configuration(proxyBeanMethods = false)
class SharedSecurityConfiguration {

  /** Refuses addresses that mean different things to different programs. */
  @Bean
  HttpFirewall httpFirewall() {
    StrictHttpFirewall firewall = new StrictHttpFirewall();
    // Which methods a path takes, the API says itself, with Allow.
    firewall.setUnsafeAllowAnyHttpMethod(true);
    return firewall;
  }

  /**
   * None of its own: it would observe each filter of each request. What is refused shows in the
   * requests' metric, by status.
   */
  @Bean
  SecurityObservationSettings securityObservations() {
    return SecurityObservationSettings.noObservations();
  }
}
