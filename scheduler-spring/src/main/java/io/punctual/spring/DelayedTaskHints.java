package io.punctual.spring;

import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * For native images: methods with {@link DelayedTask} are called by reflection, and what they take
 * is read from JSON.
 */
final class DelayedTaskHints implements BeanRegistrationAotProcessor {

  @Override
  public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
    Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
    if (!AnnotationUtils.isCandidateClass(type, DelayedTask.class)) {
      return null;
    }
    Set<Method> methods =
        MethodIntrospector.selectMethods(
            type,
            (ReflectionUtils.MethodFilter)
                method -> AnnotatedElementUtils.hasAnnotation(method, DelayedTask.class));
    return methods.isEmpty()
        ? null
        : (context, code) ->
            methods.forEach(method -> register(context.getRuntimeHints().reflection(), method));
  }

  private static void register(ReflectionHints hints, Method method) {
    hints.registerMethod(method, ExecutableMode.INVOKE);
    for (Parameter parameter : method.getParameters()) {
      if (parameter.getType() != String.class && parameter.getType() != TaskContext.class) {
        new BindingReflectionHintsRegistrar()
            .registerReflectionHints(hints, parameter.getParameterizedType());
      }
    }
  }
}
