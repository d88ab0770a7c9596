package io.punctual.server.input;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Binds a parameter of a controller to the request's body, as {@link RequestBinding} reads it. */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface Body {

  /** Whether no body at all stands for an object without fields. */
  boolean optional() default false;

  /** Whether the body may be as large as a batch. */
  boolean batch() default false;
}
