package io.punctual.server.console;

import io.punctual.server.api.ApiCalls;
import io.punctual.server.api.ApiException;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Role;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Instant;
import java.util.Locale;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.servlet.ModelAndView;

/** What every page has, and the page for what went wrong. */
@ControllerAdvice(basePackageClasses = ConsoleAdvice.class)
@Order(Ordered.HIGHEST_PRECEDENCE)
class ConsoleAdvice {

  private static final Shown SHOWN = new Shown();

  /** Who looks, and what the buttons depend on. */
  record Viewer(String name, boolean operator, boolean admin, boolean known) {

    static Viewer current() {
      Caller caller = Caller.current();
      return new Viewer(
          caller.name(), caller.is(Role.OPERATOR), caller.is(Role.ADMIN), !caller.isAnybody());
    }
  }

  @ModelAttribute
  void everyPage(Model model, Locale locale) {
    model.addAttribute("viewer", Viewer.current());
    model.addAttribute("language", locale.toLanguageTag());
    model.addAttribute("moment", Instant.now().toString());
    model.addAttribute("shown", SHOWN);
  }

  @ExceptionHandler
  ModelAndView onApi(ApiException e, HttpServletRequest request, HttpServletResponse response) {
    return page(e.status(), String.valueOf(e.getMessage()), request, response);
  }

  @ExceptionHandler
  ModelAndView onAnything(Exception e, HttpServletRequest request, HttpServletResponse response) {
    return onApi(ApiCalls.problem(e), request, response);
  }

  private static ModelAndView page(
      int status, String text, HttpServletRequest request, HttpServletResponse response) {
    response.setStatus(status);
    ModelAndView page = new ModelAndView("error");
    page.addObject("viewer", Viewer.current());
    page.addObject("language", Locale.ENGLISH.toLanguageTag());
    page.addObject("moment", Instant.now().toString());
    page.addObject("shown", SHOWN);
    page.addObject("status", status);
    page.addObject("text", text);
    page.addObject("back", request.getHeader("Referer") != null);
    return page;
  }
}
