package io.punctual.server.security;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;

/** A caller whose credentials were right. */
final class CallerAuthentication extends AbstractAuthenticationToken {

  private static final long serialVersionUID = 1L;

  private final transient Caller caller;
  private final transient BooleanSupplier valid;

  /** Credentials that stay valid as long as this scheduler runs. */
  CallerAuthentication(Caller caller) {
    this(caller, () -> true);
  }

  /**
   * Credentials that end.
   *
   * @param valid whether they are still accepted
   */
  CallerAuthentication(Caller caller, BooleanSupplier valid) {
    super(authorities(caller));
    this.caller = caller;
    this.valid = valid;
    setAuthenticated(true);
  }

  BooleanSupplier valid() {
    return valid;
  }

  private static List<GrantedAuthority> authorities(Caller caller) {
    List<GrantedAuthority> authorities = new ArrayList<>();
    if (caller.application() != null) {
      authorities.add(new SimpleGrantedAuthority("ROLE_APPLICATION"));
    }
    for (Role role : Role.values()) {
      if (caller.is(role)) {
        authorities.add(new SimpleGrantedAuthority("ROLE_" + role.name()));
      }
    }
    return authorities;
  }

  @Override
  public Object getCredentials() {
    return "";
  }

  @Override
  public Caller getPrincipal() {
    return caller;
  }

  @Override
  public String getName() {
    return caller.name();
  }
}
