package io.punctual.registry;

import com.netflix.discovery.Jersey3DiscoveryClientOptionalArgs;
import jakarta.ws.rs.client.ClientRequestFilter;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.cloud.netflix.eureka.EurekaClientConfigBean;
import org.springframework.cloud.netflix.eureka.server.ReplicationClientAdditionalFilters;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.www.BasicAuthenticationEntryPoint;
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

  /** The dashboard shows what instances say of themselves. */
  private static final String CSP =
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self';"
          + " form-action 'self'; frame-ancestors 'none'";

  /** Closed: one name, one password. */
  @Configuration(proxyBeanMethods = false)
  @Profile("!quickstart")
  @EnableConfigurationProperties(RegistryProperties.class)
  static class Closed {

    @Bean
    RegistryLogin registryLogin(RegistryProperties properties) {
      check(properties);
      return new RegistryLogin(properties, new SecretEncoder(), System::nanoTime);
    }

    @Bean
    SecurityFilterChain closed(HttpSecurity http) {
      BasicAuthenticationEntryPoint unknown = new BasicAuthenticationEntryPoint();
      unknown.setRealmName("punctual-registry");
      return common(http)
          .authorizeHttpRequests(
              requests -> requests.requestMatchers(HEALTH).permitAll().anyRequest().authenticated())
          .httpBasic(
              basic ->
                  basic.authenticationEntryPoint(
                      (request, response, e) -> {
                        if (e instanceof RegistryLogin.TooManyGuessesException guesses) {
                          long seconds = guesses.pause().toSeconds() + 1;
                          response.setStatus(HttpStatus.TOO_MANY_REQUESTS.value());
                          response.setHeader("Retry-After", Long.toString(seconds));
                          response.setContentType("text/plain");
                          response
                              .getWriter()
                              .println(
                                  "Too many wrong passwords came from this address. Try again in "
                                      + seconds
                                      + " s.");
                        } else {
                          unknown.commence(request, response, e);
                        }
                      }))
          .build();
    }

    /** Peers have the same password, so it stands in none of their addresses. */
    @Bean
    ReplicationClientAdditionalFilters passwordForReplication(
        RegistryProperties properties, EurekaClientConfigBean peers) {
      check(peers);
      return new ReplicationClientAdditionalFilters(Set.of(password(properties)));
    }

    /** The same where this registry reads and registers at its peers. */
    @Bean
    Jersey3DiscoveryClientOptionalArgs passwordForPeers(RegistryProperties properties) {
      Jersey3DiscoveryClientOptionalArgs args = new Jersey3DiscoveryClientOptionalArgs();
      args.setAdditionalFilters(Set.of(password(properties)));
      return args;
    }

    private static ClientRequestFilter password(RegistryProperties properties) {
      String header =
          "Basic "
              + HttpHeaders.encodeBasicAuth(
                  RegistryProperties.USERNAME, properties.password(), StandardCharsets.UTF_8);
      return request -> request.getHeaders().putSingle(HttpHeaders.AUTHORIZATION, header);
    }

    // Libraries log addresses.
    private static void check(EurekaClientConfigBean peers) {
      peers
          .getServiceUrl()
          .forEach(
              (zone, addresses) -> {
                if (addresses.contains("@")) {
                  throw new RegistrySetupException(
                      "eureka.client.service-url." + zone + " has a user or password in it.",
                      "Remove it: write the peers as http://registry-2:8761/eureka/. This registry"
                          + " sends its own name and password (punctual.registry), which must be"
                          + " the same on all registries.");
                }
              });
    }

    static void check(RegistryProperties properties) {
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
        .headers(headers -> headers.contentSecurityPolicy(csp -> csp.policyDirectives(CSP)))
        .sessionManagement(
            sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .requestCache(cache -> cache.disable())
        .logout(logout -> logout.disable());
  }
}
