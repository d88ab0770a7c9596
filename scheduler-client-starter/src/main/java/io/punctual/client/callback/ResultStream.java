package io.punctual.client.callback;

import io.punctual.wire.CallbackResult;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Writes a line a result, each as soon as it is there. */
final class ResultStream {

  private static final Logger log = LoggerFactory.getLogger(ResultStream.class);

  private final AsyncContext context;
  private final JsonMapper json;
  private final ReentrantLock lock = new ReentrantLock();
  private int open;
  private boolean broken;

  /**
   * @param open how many results will come
   */
  ResultStream(AsyncContext context, JsonMapper json, int open) {
    this.context = context;
    this.json = json;
    this.open = open;
    context.addListener(new Broken());
  }

  void write(CallbackResult result) {
    lock.lock();
    try {
      open--;
      if (!broken) {
        ServletOutputStream out = context.getResponse().getOutputStream();
        out.write(json.writeValueAsBytes(result));
        out.write('\n');
        out.flush();
      }
    } catch (IOException | IllegalStateException e) {
      // The scheduler is gone; the results are remembered and given when the job comes again.
      broken = true;
      log.debug("A scheduler did not wait for its results", e);
    } finally {
      boolean last = open == 0;
      lock.unlock();
      if (last) {
        end();
      }
    }
  }

  private void end() {
    try {
      context.complete();
    } catch (IllegalStateException e) {
      log.debug("The connection to the scheduler had ended already", e);
    }
  }

  /** Ends the request itself, so that the application's error page does not answer into it. */
  private final class Broken implements AsyncListener {

    @Override
    public void onError(AsyncEvent event) {
      lock.lock();
      try {
        broken = true;
      } finally {
        lock.unlock();
      }
      end();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
      onError(event);
    }

    @Override
    public void onStartAsync(AsyncEvent event) {}

    @Override
    public void onComplete(AsyncEvent event) {}
  }
}
