package io.punctual.server.input;

import io.punctual.server.problem.ApiException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Binds a parameter with {@link Query} to the query of a request, as strictly as a body: each of
 * its parameters is a text, given once, and known to the record. Errors name the parameter.
 */
class QueryParameters implements HandlerMethodArgumentResolver {

  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    return parameter.hasParameterAnnotation(Query.class);
  }

  @Override
  public Object resolveArgument(
      MethodParameter parameter,
      @Nullable ModelAndViewContainer container,
      NativeWebRequest request,
      @Nullable WebDataBinderFactory binders) {
    ObjectNode query = JsonNodeFactory.instance.objectNode();
    request
        .getParameterMap()
        .forEach(
            (name, values) -> {
              if (values.length > 1) {
                throw ApiException.invalid(JsonBody.shown(name), "must not be given twice");
              }
              query.put(name, values[0]);
            });
    return JsonBody.bind(query, parameter.getParameterType(), "");
  }
}
