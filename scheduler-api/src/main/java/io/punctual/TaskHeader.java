package io.punctual;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a {@link String} parameter of a {@link DelayedTask} method that gets one of the job's
 * headers; null where the job has none of that name.
 */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface TaskHeader {

  /** The header's name, in lower case. */
  String value();
}
