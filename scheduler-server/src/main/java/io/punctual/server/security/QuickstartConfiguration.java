package io.punctual.server.security;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.header.HeaderWriterFilter;
import org.springframework.security.web.header.writers.ContentSecurityPolicyHeaderWriter;
import org.springframework.security.web.header.writers.DelegatingRequestMatcherHeaderWriter;
import org.springframework.security.web.header.writers.XContentTypeOptionsHeaderWriter;
import org.springframework.security.web.header.writers.frameoptions.XFrameOptionsHeaderWriter;
import org.springframework.security.web.util.matcher.AnyRequestMatcher;
import org.springframework.web.filter.OncePerRequestFilter;

/** Lets everybody on this machine in without a login, and no other machine. */
@Configuration(proxyBeanMethods = false)
@Profile("quickstart")
class QuickstartConfiguration {

  private static final Logger log = LoggerFactory.getLogger(QuickstartConfiguration.class);
  private static final Set<String> HERE = Set.of("localhost", "127.0.0.1", "[::1]");

  QuickstartConfiguration(Environment environment) {
    List<String> addresses = new ArrayList<>(List.of("server.address"));
    if (environment.containsProperty("management.server.port")) {
      addresses.add("management.server.address");
    }
    for (String property : addresses) {
      String address = environment.getProperty(property);
      if (!isLoopback(address)) {
        throw new InsecureSetupException(
            "The profile quickstart needs no login, and "
                + property
                + " is "
                + (address == null ? "not set" : address)
                + ": it must be a loopback address.",
            "Leave it out, or leave the profile out and set punctual.security.signing-keys.");
      }
    }
    log.warn(
        "The profile quickstart is on: everybody on this machine may do everything; callbacks are"
            + " not signed unless punctual.security.signing-keys is set");
  }

  private static boolean isLoopback(@Nullable String address) {
    try {
      return address != null && InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** Keeps Spring Boot from making up a user. */
  @Bean
  AuthenticationManager nobody() {
    return authentication -> {
      throw new BadCredentialsException("there is no login in the profile quickstart");
    };
  }

  @Bean
  SecurityFilterChain openOnThisMachine() {
    return new DefaultSecurityFilterChain(
        AnyRequestMatcher.INSTANCE,
        new HeaderWriterFilter(
            List.of(
                new DelegatingRequestMatcherHeaderWriter(
                    QuickstartConfiguration::isConsole,
                    new ContentSecurityPolicyHeaderWriter(SecurityConfiguration.PAGES)),
                new DelegatingRequestMatcherHeaderWriter(
                    request -> !isConsole(request),
                    new ContentSecurityPolicyHeaderWriter(SecurityConfiguration.NOTHING_IS_SHOWN)),
                new XContentTypeOptionsHeaderWriter(),
                new XFrameOptionsHeaderWriter(XFrameOptionsHeaderWriter.XFrameOptionsMode.DENY))),
        new FromHere());
  }

  private static boolean isConsole(HttpServletRequest request) {
    String path = request.getServletPath();
    return path.equals(SecurityConfiguration.CONSOLE)
        || path.startsWith(SecurityConfiguration.CONSOLE + "/");
  }

  /**
   * Refuses what a web page in this machine's browser may send: those of other sites, and those
   * that reach us by a name of their own (DNS rebinding).
   */
  private static final class FromHere extends OncePerRequestFilter {

    private static final SecurityContext ANYBODY =
        new SecurityContextImpl(new CallerAuthentication(Caller.ANYBODY));

    @Override
    protected void doFilterInternal(
        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      if (CrossSiteFilter.sent(request) || !HERE.contains(request.getServerName())) {
        response.sendError(403);
        return;
      }
      SecurityContextHolder.setContext(ANYBODY);
      try {
        chain.doFilter(request, response);
      } finally {
        SecurityContextHolder.clearContext();
      }
    }
  }
}
