package io.punctual.systemtest.worker;

import io.punctual.client.json.Json;
import io.punctual.client.json.JsonObject;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Notes which scheduler sends which job, and when it claimed it, before the job can run. */
final class Senders implements Filter {

  private static final Json JSON = Json.ofClassPath();

  private final Map<String, Set<String>> byJob = new ConcurrentHashMap<>();
  private final Map<String, Long> claims = new ConcurrentHashMap<>();

  /** The schedulers that have sent a job so far, host and port. */
  Set<String> of(String taskId) {
    return byJob.getOrDefault(taskId, Set.of());
  }

  /** When the newest delivery of a job was claimed, epoch microseconds; 0 if none was heard. */
  long claimed(String taskId) {
    return claims.getOrDefault(taskId, 0L);
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (request instanceof HttpServletRequest call
        && call.getHeader("Punctual-Scheduler") != null) {
      String scheduler = call.getHeader("Punctual-Scheduler");
      chain.doFilter(new Overheard(call, body -> note(scheduler, body)), response);
    } else {
      chain.doFilter(request, response);
    }
  }

  private void note(String scheduler, byte[] body) {
    List<JsonObject> jobs = JsonObject.of(JSON.read(body, Object.class)).objects("jobs");
    for (JsonObject job : jobs == null ? List.<JsonObject>of() : jobs) {
      String taskId = job.text("taskId", "");
      byJob.computeIfAbsent(taskId, id -> ConcurrentHashMap.newKeySet()).add(scheduler);
      claims.merge(taskId, job.number("claimedAt", 0) * 1000, Math::max);
    }
  }

  /** A request whose body is told once it was read to its end. */
  private static final class Overheard extends HttpServletRequestWrapper {

    private final Consumer<byte[]> listener;

    Overheard(HttpServletRequest request, Consumer<byte[]> listener) {
      super(request);
      this.listener = listener;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
      ServletInputStream in = super.getInputStream();
      ByteArrayOutputStream heard = new ByteArrayOutputStream();
      return new ServletInputStream() {
        @Override
        public boolean isFinished() {
          return in.isFinished();
        }

        @Override
        public boolean isReady() {
          return in.isReady();
        }

        @Override
        public void setReadListener(ReadListener readListener) {
          in.setReadListener(readListener);
        }

        @Override
        public int read() throws IOException {
          byte[] one = new byte[1];
          return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
          int count = in.read(buffer, offset, length);
          if (count > 0) {
            heard.write(buffer, offset, count);
          } else if (count < 0) {
            listener.accept(heard.toByteArray());
          }
          return count;
        }
      };
    }
  }
}
