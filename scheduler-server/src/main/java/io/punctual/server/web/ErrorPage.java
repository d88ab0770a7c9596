package io.punctual.server.web;

import io.punctual.server.problem.Failures;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the servlet container shows for an error that no controller saw, TRACE for instance. */
@RestController
class ErrorPage implements ErrorController {

  @RequestMapping("/error")
  ResponseEntity<Map<String, Object>> show(HttpServletRequest request) {
    Object status = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
    // Without a status, the caller asked for this very path.
    return Problems.respond(Failures.framework(status instanceof Integer code ? code : 404));
  }
}
