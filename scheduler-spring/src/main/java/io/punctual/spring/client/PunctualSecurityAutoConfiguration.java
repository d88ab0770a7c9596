package io.punctual.spring.client;

import io.punctual.client.callback.CallbackHandler;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.configuration.WebSecurityCustomizer;

/**
 * Keeps the application's own security off the callback's path: no login page, no CSRF token, no
 * session. A filter chain bean would do that too, but it would also switch off the chain that
 * Spring Boot gives to applications that define none, and so open everything else.
 */
@AutoConfiguration(after = PunctualCallbackAutoConfiguration.class)
@ConditionalOnClass(WebSecurityCustomizer.class)
@ConditionalOnBean(CallbackHandler.class)
public class PunctualSecurityAutoConfiguration {

  @Bean
  WebSecurityCustomizer punctualCallbackSecurity(PunctualClientProperties properties) {
    return web -> web.ignoring().requestMatchers(properties.callback().path());
  }
}
