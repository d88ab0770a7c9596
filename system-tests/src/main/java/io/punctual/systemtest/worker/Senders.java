package io.punctual.systemtest.worker;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Notes which scheduler sends which job, before the job can run. */
final class Senders implements Filter {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Map<String, Set<String>> byJob = new ConcurrentHashMap<>();

  /** The schedulers that have sent a job so far, host and port. */
  Set<String> of(String taskId) {
    return byJob.getOrDefault(taskId, Set.of());
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (request instanceof HttpServletRequest call
        && call.getHeader("Punctual-Scheduler") != null) {
      byte[] body = call.getInputStream().readAllBytes();
      for (JsonNode job : JSON.readTree(body).path("jobs")) {
        byJob
            .computeIfAbsent(job.path("taskId").asString(""), id -> ConcurrentHashMap.newKeySet())
            .add(call.getHeader("Punctual-Scheduler"));
      }
      chain.doFilter(new Read(call, body), response);
    } else {
      chain.doFilter(request, response);
    }
  }

  /** A request whose body was read, with its body. */
  private static final class Read extends HttpServletRequestWrapper {

    private final byte[] body;

    Read(HttpServletRequest request, byte[] body) {
      super(request);
      this.body = body;
    }

    @Override
    public ServletInputStream getInputStream() {
      ByteArrayInputStream bytes = new ByteArrayInputStream(body);
      return new ServletInputStream() {
        @Override
        public boolean isFinished() {
          return bytes.available() == 0;
        }

        @Override
        public boolean isReady() {
          return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
          throw new UnsupportedOperationException();
        }

        @Override
        public int read() {
          return bytes.read();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) {
          return bytes.read(buffer, offset, length);
        }
      };
    }
  }
}
