package io.punctual.spring.compat;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import kotlin.reflect.KFunction;
import kotlin.reflect.KParameter;
import kotlin.reflect.jvm.ReflectJvmMapping;
import org.jspecify.annotations.NonNull;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;

/**
 * Tells whether a parameter may be null, by JSpecify's annotations or by Kotlin's types. Spring 7
 * has this itself.
 */
public final class ParameterNullness {

  private ParameterNullness() {}

  /** Returns whether the source says that the parameter is never null. */
  public static boolean isNonNull(MethodParameter parameter) {
    Method method = parameter.getMethod();
    if (parameter.getParameterType().isPrimitive()) {
      return true;
    } else if (method == null) {
      return false;
    } else if (KotlinDetector.isKotlinType(method.getDeclaringClass())) {
      return KotlinDetector.isKotlinReflectPresent()
          && Kotlin.isNonNull(method, parameter.getParameterIndex());
    }
    // An annotation of any library, on the parameter or on its type.
    AnnotatedType type = parameter.getParameter().getAnnotatedType();
    if (Arrays.stream(parameter.getParameter().getDeclaredAnnotations())
            .map(Annotation::annotationType)
            .anyMatch(annotation -> annotation.getSimpleName().equals("Nullable"))
        || type.isAnnotationPresent(Nullable.class)) {
      return false;
    }
    return type.isAnnotationPresent(NonNull.class) || isMarked(method);
  }

  /** The innermost of method, class and package that says something decides. */
  private static boolean isMarked(Method method) {
    Class<?> declaring = method.getDeclaringClass();
    for (AnnotatedElement place : List.of(method, declaring)) {
      if (place.isAnnotationPresent(NullMarked.class)) {
        return true;
      } else if (place.isAnnotationPresent(NullUnmarked.class)) {
        return false;
      }
    }
    return declaring.getPackage().isAnnotationPresent(NullMarked.class);
  }

  /** Loaded where an application has Kotlin's reflection. */
  private static final class Kotlin {

    static boolean isNonNull(Method method, int index) {
      KFunction<?> function = ReflectJvmMapping.getKotlinFunction(method);
      if (function == null) {
        return false;
      }
      List<KParameter> values =
          function.getParameters().stream()
              .filter(parameter -> parameter.getKind() == KParameter.Kind.VALUE)
              .toList();
      return index < values.size() && !values.get(index).getType().isMarkedNullable();
    }
  }
}
