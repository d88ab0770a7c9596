package io.punctual.registry;

import java.net.InetAddress;
import java.util.Set;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;

/**
 * Everything asks for the one password, but health. With the profile {@code quickstart} nothing
 * does, and only this machine reaches it.
 */
@Configuration(proxyBeanMethods = false)
class RegistrySecurity {

  private static final String HEALTH = "/actuator/health/**";

  /** The paths of machines, which have no token; no browser can send them what they take. */
  private static final String MACHINES = "/eureka/**";

  /** Closed: one name, one password. */
  @Configuration(proxyBeanMethods = false)
  @Profile("!quickstart")
  @EnableConfigurationProperties(RegistryProperties.class)
  static class Closed {

    @Bean
    PasswordEncoder passwordEncoder() {
      return new SecretEncoder();
    }

    @Bean
    UserDetailsService users(RegistryProperties properties, PasswordEncoder encoder) {
      check(properties);
      return new InMemoryUserDetailsManager(
          User.withUsername(properties.username())
              .password(encoder.encode(properties.password()))
              .authorities(Set.of())
              .build());
    }

    @Bean
    SecurityFilterChain closed(HttpSecurity http) {
      return common(http)
          .authorizeHttpRequests(
              requests -> requests.requestMatchers(HEALTH).permitAll().anyRequest().authenticated())
          .httpBasic(basic -> basic.realmName("punctual-registry"))
          .build();
    }

    static void check(RegistryProperties properties) {
      if (properties.username().isBlank() || properties.username().contains(":")) {
        throw new RegistrySetupException(
            "punctual.registry.username is empty or has a colon in it.",
            "Set another one, or leave it out: then it is 'punctual'.");
      }
      PasswordRule.violation(properties.password())
          .ifPresent(
              violation -> {
                throw new RegistrySetupException(
                    "The password of the registry, punctual.registry.password, " + violation + ".",
                    "Set a random one in the environment as PUNCTUAL_REGISTRY_PASSWORD, for"
                        + " instance the output of 'openssl rand -hex 32', and give it to the"
                        + " clients: http://punctual:PASSWORD@HOST:8761/eureka/. To try things out"
                        + " on one machine, start with --spring.profiles.active=quickstart.");
              });
    }
  }

  /** Open, on loopback. */
  @Configuration(proxyBeanMethods = false)
  @Profile("quickstart")
  static class Open {

    private static final Set<String> LOOPBACK =
        Set.of("localhost", "127.0.0.1", "::1", "[::1]", "0:0:0:0:0:0:0:1", "[0:0:0:0:0:0:0:1]");

    @Bean
    SecurityFilterChain open(HttpSecurity http, ServerProperties server) {
      InetAddress address = server.getAddress();
      if (address == null || !address.isLoopbackAddress()) {
        throw new RegistrySetupException(
            "The profile quickstart opens the registry to everybody who reaches it, and"
                + " server.address is "
                + (address == null ? "empty" : address.getHostAddress())
                + ", which others reach.",
            "Leave server.address out, then it is 127.0.0.1; or start without the profile and set"
                + " punctual.registry.password.");
      }
      return common(http)
          .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
          .build();
    }

    /** A page in a browser on this machine may know another name for 127.0.0.1. */
    @Bean
    HttpFirewall ownNamesOnly() {
      StrictHttpFirewall firewall = new StrictHttpFirewall();
      firewall.setAllowedHostnames(LOOPBACK::contains);
      return firewall;
    }
  }

  private static HttpSecurity common(HttpSecurity http) {
    return http.csrf(csrf -> csrf.ignoringRequestMatchers(MACHINES))
        .headers(Customizer.withDefaults())
        .sessionManagement(
            sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .requestCache(cache -> cache.disable())
        .logout(logout -> logout.disable());
  }
}
