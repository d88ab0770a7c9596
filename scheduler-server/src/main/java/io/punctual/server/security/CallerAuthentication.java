package io.punctual.server.security;

import java.util.ArrayList;
import java.util.List;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;

/** A caller whose credentials were right. */
final class CallerAuthentication extends AbstractAuthenticationToken {

  private static final long serialVersionUID = 1L;

  private final transient Caller caller;

  CallerAuthentication(Caller caller) {
    super(authorities(caller));
    this.caller = caller;
    setAuthenticated(true);
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
