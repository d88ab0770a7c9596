package io.punctual.server.input;

import io.punctual.core.job.QueueName;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.server.jobs.JobRef;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Binds a parameter that is a {@link JobRef}, a {@link QueueName} or a {@link ScheduleName} to the
 * names in the path.
 */
class PathNames implements HandlerMethodArgumentResolver {

  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    return parameter.getParameterType() == JobRef.class
        || parameter.getParameterType() == QueueName.class
        || parameter.getParameterType() == ScheduleName.class;
  }

  @Override
  public Object resolveArgument(
      MethodParameter parameter,
      @Nullable ModelAndViewContainer container,
      NativeWebRequest request,
      @Nullable WebDataBinderFactory binders) {
    QueueName queue = JobRef.queue(name(request, "application"), name(request, "taskType"));
    if (parameter.getParameterType() == ScheduleName.class) {
      try {
        return new ScheduleName(queue, name(request, "scheduleId"));
      } catch (IllegalArgumentException e) {
        throw JobFields.named(e);
      }
    }
    return parameter.getParameterType() == QueueName.class
        ? queue
        : JobRef.of(queue.application(), queue.taskType(), name(request, "taskId"));
  }

  private static String name(NativeWebRequest request, String variable) {
    return request.getAttribute(
                HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE, RequestAttributes.SCOPE_REQUEST)
            instanceof Map<?, ?> names
        ? String.valueOf(names.get(variable))
        : "";
  }
}
