package io.punctual.server.web;

import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import java.io.IOException;
import java.io.Writer;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * What Tomcat answers to a request that it refuses itself, before any controller: a path with an
 * encoded slash, for instance. Made by Tomcat, by its name.
 */
public final class ProblemValve extends ErrorReportValve {

  private static final JsonMapper JSON = new JsonMapper();

  @Override
  protected void report(Request request, Response response, @Nullable Throwable throwable) {
    if (response.getStatus() < 400
        || response.getContentWritten() > 0
        || !response.setErrorReported()) {
      return;
    }
    ApiException problem = Failures.framework(response.getStatus());
    response.setStatus(problem.status());
    response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    response.setCharacterEncoding("utf-8");
    try {
      Writer writer = response.getReporter();
      if (writer != null) {
        writer.write(JSON.writeValueAsString(Problems.document(problem)));
        response.finishResponse();
      }
    } catch (IOException e) {
      container.getLogger().debug("a refused client did not wait for its answer", e);
    }
  }
}
