package io.punctual.client.callback;

import io.punctual.client.json.Json;
import io.punctual.wire.CallbackResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a line a result, each as soon as it is there. Results that arrive while a write is on its
 * way go together with the next one.
 */
final class ResultStream {

  private static final Logger log = LoggerFactory.getLogger(ResultStream.class);

  private final OutputStream out;
  private final Runnable end;
  private final Json json;
  private final CallbackGuard.@Nullable AnswerSeal seal;
  private final Executor writer;
  private final List<CallbackResult> waiting = new ArrayList<>();
  private int open;
  private boolean writing;
  private boolean broken;

  /**
   * Keeps an answer open until all results were written.
   *
   * @param out the body of the answer
   * @param seal null where nothing is signed
   * @param writer starts a task soon; where it runs behind tasks that were given before, jobs that
   *     end at once share a write
   * @param open how many results will come
   */
  ResultStream(
      CallbackExchange exchange,
      OutputStream out,
      Json json,
      CallbackGuard.@Nullable AnswerSeal seal,
      Executor writer,
      int open) {
    this.out = out;
    this.seal = seal;
    this.json = json;
    this.writer = writer;
    this.open = open;
    this.end = exchange.hold(this::breakOff);
  }

  void write(CallbackResult result) {
    synchronized (waiting) {
      waiting.add(result);
      if (writing) {
        return;
      }
      writing = true;
    }
    try {
      writer.execute(this::writeAll);
    } catch (RuntimeException | Error e) {
      // It was closed, or there is no memory for a thread.
      writeAll();
    }
  }

  private void writeAll() {
    for (List<CallbackResult> some = next(); !some.isEmpty(); some = next()) {
      open -= (int) some.stream().filter(result -> !result.goesOn()).count();
      try {
        if (!isBroken()) {
          send(some);
        }
      } catch (IOException | RuntimeException | Error e) {
        // The results are remembered and given when the job comes again. Mostly the scheduler is
        // gone; whatever else it is, the request must end, and the others' results not wait.
        breakOff();
        log.debug("A scheduler did not get its results", e);
      }
      if (open == 0) {
        // Nothing follows the last end.
        breakOff();
        end.run();
      }
    }
  }

  private List<CallbackResult> next() {
    synchronized (waiting) {
      List<CallbackResult> some = List.copyOf(waiting);
      waiting.clear();
      writing = !some.isEmpty();
      return some;
    }
  }

  private void send(List<CallbackResult> results) throws IOException {
    ByteArrayOutputStream lines = new ByteArrayOutputStream(128 * results.size());
    for (CallbackResult result : results) {
      lines.writeBytes(json.write(result));
      lines.write('\n');
    }
    if (seal != null) {
      lines.writeBytes(
          (seal.line(lines.toString(StandardCharsets.UTF_8)) + "\n")
              .getBytes(StandardCharsets.UTF_8));
    }
    lines.writeTo(out);
    out.flush();
  }

  private boolean isBroken() {
    synchronized (waiting) {
      return broken;
    }
  }

  private void breakOff() {
    synchronized (waiting) {
      broken = true;
    }
  }
}
