package io.punctual.server.security;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Who may make a call. A call that does not say is refused to everybody. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Allowed {

  /** Operators from this role on. */
  Role value();

  /** Whether applications may, too: each for itself. */
  boolean applications() default false;
}
