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
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
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
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.authentication.www.BasicAuthenticationFilter;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter;
import org.springframework.security.web.savedrequest.SavedRequest;

/**
 * Every call has a caller. What this caller may do is said at the calls themselves, see {@link
 * Allowed}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("!quickstart")
class SecurityConfiguration {

  /** The content security policy of every answer: none of them is a page. */
  static final String NOTHING_IS_SHOWN = "default-src 'none'; frame-ancestors 'none'";

  /** That of the console's pages: all that they need comes from here, and no script is in them. */
  static final String PAGES =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

  /** What the console's addresses begin with. */
  static final String CONSOLE = "/console";

  private static final String JWT = "spring.security.oauth2.resourceserver.jwt.";
  private static final String AUDIENCES = JWT + "audiences";
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
      log.info("No operators are set (punctual.security.operators): queues cannot be managed");
    }
  }

  @Bean
  ApplicationTokens applicationTokens(
      StringRedisTemplate redis,
      @Value("${" + ApplicationTokens.KEY_PREFIX + ":punctual}") String keyPrefix) {
    return new ApplicationTokens(redis, keyPrefix, System::nanoTime, InstantSource.system());
  }

  @Bean
  AuthenticationManager operatorLogin(SecurityProperties properties) {
    return new OperatorLogin(
        properties, PasswordEncoderFactories.createDelegatingPasswordEncoder(), System::nanoTime);
  }

  /** The console: operators log in once, and a cookie says that they did. */
  @Bean
  @Order(1)
  SecurityFilterChain consoleSecurity(HttpSecurity http, AuthenticationManager operators) {
    CookieCsrfTokenRepository tokens = new CookieCsrfTokenRepository();
    tokens.setCookieName("punctual-form");
    tokens.setCookiePath(CONSOLE);
    tokens.setCookieCustomizer(cookie -> cookie.sameSite("Strict"));
    String login = CONSOLE + "/login";
    LoginReturnCookie pages = new LoginReturnCookie();
    AuthenticationEntryPoint page = new LoginUrlAuthenticationEntryPoint(login);
    return http.securityMatcher("/", CONSOLE, CONSOLE + "/**")
        // In cookies: strangers leave nothing behind here.
        .csrf(csrf -> csrf.csrfTokenRepository(tokens))
        .requestCache(cache -> cache.requestCache(pages))
        .anonymous(AbstractHttpConfigurer::disable)
        .headers(
            headers ->
                headers
                    .contentSecurityPolicy(policy -> policy.policyDirectives(PAGES))
                    .referrerPolicy(
                        policy ->
                            policy.policy(ReferrerPolicyHeaderWriter.ReferrerPolicy.SAME_ORIGIN)))
        .authenticationManager(operators)
        .formLogin(
            form ->
                form.loginPage(login)
                    .successHandler(
                        (request, response, who) -> {
                          SavedRequest wanted = pages.getRequest(request, response);
                          pages.removeRequest(request, response);
                          response.sendRedirect(
                              request.getContextPath()
                                  + (wanted == null ? CONSOLE : wanted.getRedirectUrl()));
                        })
                    .failureHandler(
                        (request, response, e) ->
                            response.sendRedirect(
                                request.getContextPath()
                                    + login
                                    + (e instanceof BadCredentialsException
                                        ? "?error=wrong"
                                        : "?error=wait"))))
        .logout(logout -> logout.logoutUrl(CONSOLE + "/logout").logoutSuccessUrl(login))
        .exceptionHandling(
            errors ->
                errors
                    .authenticationEntryPoint(
                        (request, response, e) -> {
                          if (request.getHeader("HX-Request") == null) {
                            page.commence(request, response, e);
                            return;
                          }
                          // A part of a page: the whole page goes to the login.
                          response.setHeader("HX-Refresh", "true");
                          response.setStatus(401);
                        })
                    .accessDeniedHandler(
                        (request, response, e) -> {
                          response.setStatus(403);
                          response.setContentType("text/plain;charset=UTF-8");
                          response
                              .getWriter()
                              .write(
                                  "Refused: the form is too old, or came from another site. Open"
                                      + " the page again and repeat it.");
                        }))
        .authorizeHttpRequests(
            calls ->
                calls
                    .dispatcherTypeMatchers(DispatcherType.ASYNC, DispatcherType.ERROR)
                    .permitAll()
                    .requestMatchers("/", login, CONSOLE + "/assets/**")
                    .permitAll()
                    .anyRequest()
                    .hasRole(Role.VIEWER.name()))
        .build();
  }

  @Bean
  SecurityFilterChain apiSecurity(
      HttpSecurity http,
      ApplicationTokens tokens,
      AuthenticationManager operators,
      ObjectProvider<JwtDecoder> jwts,
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
    BearerLogin bearers =
        new BearerLogin(
            tokens,
            jwts.getIfAvailable(),
            environment.getProperty(JWT + "authorities-claim-name", "scope"),
            environment.getProperty(JWT + "principal-claim-name", "client_id"));
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
        .addFilterBefore(new CrossSiteFilter(denied), BasicAuthenticationFilter.class)
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
