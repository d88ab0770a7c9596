package io.punctual.client.submit;

import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads a body whole, up to a moment: a request's own time-out ends with the headers. What comes
 * too late is a {@link TimeoutException}, and closes the connection.
 */
final class TimedBody implements HttpResponse.BodySubscriber<byte[]> {

  private final HttpResponse.BodySubscriber<byte[]> bytes =
      HttpResponse.BodySubscribers.ofByteArray();
  private final CompletableFuture<byte[]> body = bytes.getBody().toCompletableFuture();
  private final long deadline;

  private TimedBody(long deadline) {
    this.deadline = deadline;
  }

  /**
   * Reads bodies up to a moment.
   *
   * @param deadline by {@link System#nanoTime}
   */
  static HttpResponse.BodyHandler<byte[]> until(long deadline) {
    return headers -> new TimedBody(deadline);
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    bytes.onSubscribe(subscription);
    var unused =
        body.orTimeout(Math.max(deadline - System.nanoTime(), 0), TimeUnit.NANOSECONDS)
            .whenComplete(
                (done, error) -> {
                  if (error instanceof TimeoutException) {
                    subscription.cancel();
                  }
                });
  }

  @Override
  public void onNext(List<ByteBuffer> item) {
    bytes.onNext(item);
  }

  @Override
  public void onError(Throwable error) {
    bytes.onError(error);
  }

  @Override
  public void onComplete() {
    bytes.onComplete();
  }
}
