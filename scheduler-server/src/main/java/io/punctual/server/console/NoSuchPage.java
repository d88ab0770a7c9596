package io.punctual.server.console;

import io.punctual.server.web.ServedPath;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.core.Ordered;
import org.springframework.stereotype.Component;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.resource.NoResourceFoundException;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * The page for what no controller of the console takes, for which the API would otherwise answer:
 * an address that is none, and one that only a form is sent to.
 */
@Component
class NoSuchPage implements HandlerExceptionResolver, Ordered {

  private static final int MAX_SHOWN = 200;

  private final MessageSource messages;

  NoSuchPage(MessageSource messages) {
    this.messages = messages;
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  @Override
  public @Nullable ModelAndView resolveException(
      HttpServletRequest request,
      HttpServletResponse response,
      @Nullable Object handler,
      Exception e) {
    String path = ServedPath.of(request);
    // Assets are for pages and strangers: there is nobody to read.
    if (!path.startsWith("/console/") || path.startsWith("/console/assets/")) {
      return null;
    } else if (e instanceof NoResourceFoundException) {
      return page(404, "error.nowhere", request, response);
    } else if (e instanceof HttpRequestMethodNotSupportedException wrong) {
      String[] right = wrong.getSupportedMethods();
      if (right != null) {
        response.setHeader("Allow", String.join(", ", right));
      }
      return page(405, "error.method", request, response);
    }
    return null;
  }

  private ModelAndView page(
      int status, String text, HttpServletRequest request, HttpServletResponse response) {
    Locale locale = RequestContextUtils.getLocale(request);
    String path = request.getRequestURI();
    String shown = path.length() > MAX_SHOWN ? path.substring(0, MAX_SHOWN) + "…" : path;
    ModelAndView page =
        ConsoleAdvice.page(
            status, messages.getMessage(text, new Object[] {shown}, locale), request, response);
    page.addObject("speech", locale.toLanguageTag());
    return page;
  }
}
