package io.punctual.server.security;

import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;

/** Lets a test be a caller, as the login would make it one. */
public final class Callers {

  private Callers() {}

  /** Runs as an application. */
  public static void application(String name, Runnable call) {
    as(Caller.application(name, "token-" + name), call);
  }

  /** Runs as an operator. */
  public static void operator(String name, Runnable call) {
    as(Caller.operator(name, Role.ADMIN), call);
  }

  /** Runs as in the profile quickstart. */
  public static void anybody(Runnable call) {
    as(Caller.ANYBODY, call);
  }

  private static void as(Caller caller, Runnable call) {
    SecurityContextHolder.setContext(new SecurityContextImpl(new CallerAuthentication(caller)));
    try {
      call.run();
    } finally {
      SecurityContextHolder.clearContext();
    }
  }
}
