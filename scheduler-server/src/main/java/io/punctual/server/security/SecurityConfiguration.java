package io.punctual.server.security;

import jakarta.servlet.DispatcherType;
import java.time.InstantSource;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.annotation.web.configurers.HeadersConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.web.AuthenticationEntryPoint;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.AccessDeniedHandler;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter;

/**
 * Every call has a caller. What this caller may do is said at the calls themselves, see {@link
 * Allowed}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("!quickstart")
class SecurityConfiguration {

  /** The content security policy of every answer: none of them is a page. */
  static final String NOTHING_IS_SHOWN = "default-src 'none'; frame-ancestors 'none'";

  private static final String AUDIENCES = "spring.security.oauth2.resourceserver.jwt.audiences";
  private static final Logger log = LoggerFactory.getLogger(SecurityConfiguration.class);

  SecurityConfiguration(SecurityProperties properties) {
    if (properties.signingKeys().isEmpty()) {
      throw new InsecureSetupException(
          "punctual.security.signing-keys is not set: workers could not tell this scheduler from"
              + " anybody else.",
          "Set it to a secret of 32 characters or more ("
              + Secrets.MAKE_KEY
              + "), from a file or the environment; or, on your own machine only, use the profile"
              + " quickstart (spring.profiles.active=quickstart).");
    }
    BCryptPasswordEncoder bcrypt = new BCryptPasswordEncoder();
    properties
        .operators()
        .forEach(
            (name, operator) -> {
              String hash = operator.password().substring("{bcrypt}".length());
              if (Stream.concat(Secrets.WELL_KNOWN.stream(), Stream.of(name))
                  .anyMatch(known -> bcrypt.matches(known, hash))) {
                throw new InsecureSetupException(
                    "The password of punctual.security.operators."
                        + name
                        + " is one that everybody tries first.",
                    "Make another one with the command password.");
              }
            });
    if (properties.operators().isEmpty()) {
      log.info("No operators are set (punctual.security.operators): queues cannot be looked after");
    }
  }

  @Bean
  ApplicationTokens applicationTokens(
      StringRedisTemplate redis,
      @Value("${" + AuditLog.KEY_PREFIX + ":punctual}") String keyPrefix) {
    return new ApplicationTokens(redis, keyPrefix, System::nanoTime, InstantSource.system());
  }

  @Bean
  AuthenticationManager operatorLogin(SecurityProperties properties) {
    return new OperatorLogin(
        properties, PasswordEncoderFactories.createDelegatingPasswordEncoder(), System::nanoTime);
  }

  @Bean
  SecurityFilterChain apiSecurity(
      HttpSecurity http,
      ApplicationTokens tokens,
      AuthenticationManager operators,
      ObjectProvider<JwtDecoder> jwts,
      SecurityProperties properties,
      AuthenticationEntryPoint entryPoint,
      AccessDeniedHandler denied,
      Environment environment) {
    if (jwts.getIfAvailable() != null
        && Binder.get(environment).bind(AUDIENCES, String[].class).orElse(new String[0]).length
            == 0) {
      log.warn(
          "{} is not set: every token of that provider counts here, whomever it was made for",
          AUDIENCES);
    }
    BearerLogin bearers = new BearerLogin(tokens, jwts.getIfAvailable(), properties.jwt());
    return http
        // Nothing is kept between calls and no cookie is looked at: there is nothing to forge.
        .csrf(AbstractHttpConfigurer::disable)
        .sessionManagement(
            sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .requestCache(AbstractHttpConfigurer::disable)
        .logout(AbstractHttpConfigurer::disable)
        .anonymous(AbstractHttpConfigurer::disable)
        .headers(SecurityConfiguration::headers)
        .authenticationManager(operators)
        .httpBasic(basic -> basic.authenticationEntryPoint(entryPoint))
        .oauth2ResourceServer(
            server ->
                server
                    .authenticationManagerResolver(request -> bearers)
                    .authenticationEntryPoint(entryPoint)
                    .accessDeniedHandler(denied))
        .exceptionHandling(
            errors -> errors.authenticationEntryPoint(entryPoint).accessDeniedHandler(denied))
        .authorizeHttpRequests(
            calls ->
                calls
                    .dispatcherTypeMatchers(DispatcherType.ASYNC, DispatcherType.ERROR)
                    .permitAll()
                    .requestMatchers("/actuator/health", "/actuator/health/**")
                    .permitAll()
                    .requestMatchers("/api/v1/openapi.yaml")
                    .permitAll()
                    .requestMatchers("/actuator/**")
                    .hasRole(Role.VIEWER.name())
                    .anyRequest()
                    .authenticated())
        .build();
  }

  private static void headers(HeadersConfigurer<HttpSecurity> headers) {
    headers
        .contentSecurityPolicy(policy -> policy.policyDirectives(NOTHING_IS_SHOWN))
        .referrerPolicy(
            policy -> policy.policy(ReferrerPolicyHeaderWriter.ReferrerPolicy.NO_REFERRER));
  }
}
