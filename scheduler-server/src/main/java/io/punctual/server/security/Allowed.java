package io.punctual.server.security;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The callers that may make a call. A call without this annotation is refused to every caller. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Allowed {

  /** Operators from this role on. */
  Role value();

  /** Whether applications may, too: each for itself. */
  boolean applications() default false;
}
