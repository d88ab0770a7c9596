package io.punctual.server.input;

import java.util.List;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Names what binds the parameters of controllers. */
@Configuration(proxyBeanMethods = false)
class InputConfiguration implements WebMvcConfigurer {

  @Override
  public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
    resolvers.addAll(List.of(new RequestBinding(), new PathNames()));
  }
}
