package io.punctual.server.console;

import io.punctual.ErrorCode;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.StoreException.Kind;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Role;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.dao.DataAccessException;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.resource.ResourceUrlProvider;
import org.springframework.web.servlet.resource.ResourceUrlProviderExposingInterceptor;
import org.springframework.web.servlet.support.RequestContextUtils;

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

  /** Links to scripts, styles and pictures. */
  record Assets(@Nullable ResourceUrlProvider provider) {

    static Assets of(HttpServletRequest request) {
      return new Assets(
          (ResourceUrlProvider)
              request.getAttribute(
                  ResourceUrlProviderExposingInterceptor.RESOURCE_URL_PROVIDER_ATTR));
    }

    /** Returns the path of an asset, with a hash of what it is. */
    public String path(String name) {
      String plain = "/console/assets/" + name;
      String hashed = provider == null ? null : provider.getForLookupPath(plain);
      return hashed == null ? plain : hashed;
    }
  }

  @ModelAttribute
  void everyPage(Model model, HttpServletRequest request) {
    model.addAllAttributes(common(request));
  }

  /** What the frame around all pages shows. */
  private static Map<String, Object> common(HttpServletRequest request) {
    Map<String, Object> common = new HashMap<>();
    common.put("viewer", Viewer.current());
    common.put("language", RequestContextUtils.getLocale(request).toLanguageTag());
    common.put("moment", Instant.now().toString());
    common.put("shown", SHOWN);
    common.put("assets", Assets.of(request));
    common.put("viewerZone", TimeWords.of(request).zone());
    // The answer to a form has no address at which it could be had in another language.
    if (request.getMethod().equals("GET")) {
      common.put("here", here(request.getQueryString()));
    }
    return common;
  }

  /** The address of this page, from its question mark on; a word more can be put behind it. */
  static String here(@Nullable String query) {
    return Arrays.stream(query == null ? new String[0] : query.split("&", -1))
        .filter(word -> !word.isEmpty() && !word.startsWith("lang="))
        .map(word -> word + "&")
        .collect(Collectors.joining("", "?", ""));
  }

  @ExceptionHandler
  ModelAndView onAnything(Exception e, HttpServletRequest request, HttpServletResponse response) {
    ApiException problem = Failures.of(e);
    ModelAndView page =
        page(problem.status(), String.valueOf(problem.getMessage()), request, response);
    // A POST may have taken effect; a GET changes nothing.
    Kind kind = e instanceof StoreException store ? store.kind() : null;
    boolean away = kind == Kind.UNREACHABLE || e instanceof DataAccessException;
    boolean read = request.getMethod().equals("GET");
    page.addObject("unread", away && read);
    page.addObject(
        "unsure", problem.code() == ErrorCode.UNAVAILABLE && !read && kind != Kind.REFUSED);
    return page;
  }

  /** The page for what went wrong; its text is the API's, unless {@code speech} says otherwise. */
  static ModelAndView page(
      int status, String text, HttpServletRequest request, HttpServletResponse response) {
    response.setStatus(status);
    ModelAndView page = new ModelAndView("error");
    page.addAllObjects(common(request));
    page.addObject("speech", "en");
    page.addObject("status", status);
    page.addObject("text", text);
    page.addObject("back", request.getHeader("Referer") != null);
    return page;
  }
}
