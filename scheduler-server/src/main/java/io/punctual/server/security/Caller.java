package io.punctual.server.security;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * The caller of a request: an application, or an operator.
 *
 * @param name for the audit; never a secret
 * @param application whose jobs it may touch, in lower case; null for an operator
 * @param role null for an application
 */
public record Caller(String name, @Nullable String application, @Nullable Role role) {

  /** Each caller in the profile quickstart, which needs no credentials. */
  static final Caller ANYBODY = new Caller("anybody", null, Role.ADMIN);

  private static final Caller NOBODY = new Caller("anonymous", null, null);

  static Caller application(String application, String token) {
    return new Caller(application + "/" + token, application, null);
  }

  static Caller operator(String name, Role role) {
    return new Caller(name, null, role);
  }

  /** Who makes the call that this thread serves. */
  public static Caller current() {
    Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
    return authentication instanceof CallerAuthentication known ? known.getPrincipal() : NOBODY;
  }

  /**
   * Returns whether the credentials of this thread's call are still accepted, whenever that is
   * asked. For calls that wait: a token may be revoked, or end, meanwhile.
   */
  public static BooleanSupplier stillValid() {
    Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
    return authentication instanceof CallerAuthentication known ? known.valid() : () -> false;
  }

  /**
   * The name that jobs keep of who submitted or cancelled them; null if callers need no
   * credentials.
   */
  public @Nullable String submitter() {
    return isAnybody() ? null : name;
  }

  /** Whether callers need not say who they are. An operator may have the same name. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isAnybody() {
    return this == ANYBODY;
  }

  /**
   * The name to which what the caller uses is charged: all tokens of an application are one.
   *
   * @return null where callers need not say who they are
   */
  public @Nullable String account() {
    return isAnybody() ? null : application != null ? application : "operator " + name;
  }

  /** Whether this is an operator of that role, or of a higher one. */
  public boolean is(Role wanted) {
    return role != null && role.includes(wanted);
  }

  /**
   * Whether it may touch the jobs of an application, by the rule of applications; what an operator
   * may do, its role says.
   */
  public boolean mayTouch(String other) {
    return application == null || application.equals(other);
  }
}
