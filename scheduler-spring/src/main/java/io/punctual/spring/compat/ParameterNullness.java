package io.punctual.spring.compat;

import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;

/** Tells whether a parameter may be null, by JSpecify's annotations or by Kotlin's types. */
public final class ParameterNullness {

  private ParameterNullness() {}

  /** Returns whether the source says that the parameter is never null. */
  public static boolean isNonNull(MethodParameter parameter) {
    return Nullness.forMethodParameter(parameter) == Nullness.NON_NULL;
  }
}
