package io.punctual.server.security;

import io.punctual.wire.Limits;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.security.oauth2.server.resource.InvalidBearerTokenException;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthenticationToken;

/** Bearer tokens: our own, and those of an OAuth2 provider where one is configured. */
final class BearerLogin implements AuthenticationManager {

  private static final String NONE = "the token is unknown, expired or revoked";

  private final ApplicationTokens tokens;
  private final @Nullable JwtDecoder jwts;
  private final String rolesClaim;
  private final String applicationClaim;
  private final InstantSource clock = InstantSource.system();

  /**
   * @param jwts decodes the provider's tokens; null where none is configured
   * @param rolesClaim the claim with the roles: a list, or a text with spaces; counted are {@code
   *     punctual.viewer}, {@code punctual.operator} and {@code punctual.admin}
   * @param applicationClaim the claim that names the application for which a token without a role
   *     may act
   */
  BearerLogin(
      ApplicationTokens tokens,
      @Nullable JwtDecoder jwts,
      String rolesClaim,
      String applicationClaim) {
    this.tokens = tokens;
    this.jwts = jwts;
    this.rolesClaim = rolesClaim;
    this.applicationClaim = applicationClaim;
  }

  @Override
  public Authentication authenticate(Authentication authentication) {
    String token = ((BearerTokenAuthenticationToken) authentication).getToken();
    if (token.startsWith(ApplicationTokens.PREFIX)) {
      return new CallerAuthentication(application(token), () -> tokens.find(token).isPresent());
    }
    Jwt jwt = decode(token);
    Instant end = jwt.getExpiresAt();
    return new CallerAuthentication(
        fromProvider(jwt), () -> end == null || clock.instant().isBefore(end));
  }

  private Caller application(String token) {
    try {
      return tokens
          .find(token)
          .map(entry -> Caller.application(entry.application(), entry.id()))
          .orElseThrow(() -> new InvalidBearerTokenException(NONE));
    } catch (DataAccessException e) {
      throw new UndecidedException("the store did not answer", e);
    }
  }

  private Jwt decode(String token) {
    if (jwts == null) {
      throw new InvalidBearerTokenException(NONE);
    }
    try {
      return jwts.decode(token);
    } catch (BadJwtException e) {
      throw new InvalidBearerTokenException(NONE, e);
    } catch (JwtException e) {
      throw new UndecidedException("the OAuth2 provider did not answer", e);
    }
  }

  private Caller fromProvider(Jwt jwt) {
    Set<String> granted = texts(jwt.getClaim(rolesClaim));
    String name = String.valueOf(jwt.getSubject());
    return Arrays.stream(Role.values())
        .filter(role -> granted.contains("punctual." + role.name().toLowerCase(Locale.ROOT)))
        .reduce((lower, higher) -> higher)
        .map(role -> Caller.operator(name, role))
        .orElseGet(() -> forApplication(jwt, name));
  }

  private Caller forApplication(Jwt jwt, String name) {
    Object application = jwt.getClaim(applicationClaim);
    if (application == null || !Limits.isName(application.toString())) {
      throw new InvalidBearerTokenException(
          "the token has neither a role in "
              + rolesClaim
              + " nor the name of an application in "
              + applicationClaim);
    }
    return Caller.application(application.toString().toLowerCase(Locale.ROOT), name);
  }

  private static Set<String> texts(@Nullable Object claim) {
    if (claim instanceof Collection<?> list) {
      return list.stream().map(String::valueOf).collect(Collectors.toSet());
    }
    return claim == null ? Set.of() : Set.of(claim.toString().split(" ", -1));
  }
}
