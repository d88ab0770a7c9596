package io.punctual.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an entry in a registry. A thread registers it, asks every ten seconds whether it is there,
 * and registers it again if it is not. Logs one line when that begins to fail, and one when it
 * succeeds again.
 */
public final class KeptRegistration {

  private final Client client;
  private final Texts texts;
  private final Consumer<String> warnings;
  private final Consumer<String> news;
  private final Duration pause;
  private final Duration confirmation;
  private final Duration patience;
  private final Thread thread;
  private final CountDownLatch tried = new CountDownLatch(1);
  private final CompletableFuture<@Nullable Void> left = new CompletableFuture<>();
  private volatile boolean stopped;
  private volatile boolean leaves;
  private volatile @Nullable String problem = "it is being registered";
  private boolean warned;

  /** The calls of a registry's client for one entry. Each may wait long, and may throw. */
  public interface Client {

    /** Registers the entry, or replaces what is there under its id. */
    void register() throws Exception;

    /** Asks the registry whether it has the entry. */
    boolean isRegistered() throws Exception;

    /** Removes the entry. */
    void deregister() throws Exception;
  }

  /**
   * The words of the log.
   *
   * @param registry its name
   * @param subject what is registered, such as "this instance"
   * @param finders who looks it up there, such as "schedulers"
   * @param setting the property that has the registry's address
   */
  public record Texts(String registry, String subject, String finders, String setting) {}

  /**
   * @param warnings gets a line when an outage begins
   * @param news gets a line when it is over
   */
  public KeptRegistration(
      Client client, Texts texts, Consumer<String> warnings, Consumer<String> news) {
    this(
        client,
        texts,
        warnings,
        news,
        Duration.ofSeconds(10),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5));
  }

  /**
   * @param pause between two questions
   * @param confirmation between a registration and the first question
   * @param patience how long {@link #start} waits for the registration, and {@link #stop} for its
   *     end
   */
  KeptRegistration(
      Client client,
      Texts texts,
      Consumer<String> warnings,
      Consumer<String> news,
      Duration pause,
      Duration confirmation,
      Duration patience) {
    this.client = client;
    this.texts = texts;
    this.warnings = warnings;
    this.news = news;
    this.pause = pause;
    this.confirmation = confirmation;
    this.patience = patience;
    this.thread = new Thread(this::keep, "punctual-registration");
    thread.setDaemon(true);
  }

  /** Registers. If that fails or takes more than five seconds, the thread goes on. */
  public void start() {
    thread.start();
    try {
      if (!tried.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        failed(new TimeoutException("no answer within " + patience.toSeconds() + " s"));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Removes the entry, once. Nothing is registered after that.
   *
   * @throws TimeoutException if the removal took longer than five seconds. It continues in the
   *     background until the JVM ends
   * @throws Exception what the client threw
   */
  public void stop() throws Exception {
    if (!leaves) {
      leaves = true;
      end();
    }
    try {
      left.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception failure ? failure : e;
    } catch (TimeoutException e) {
      throw new TimeoutException(
          "%s did not remove the registration of %s within %d s. The entry stays until %s expires it."
              .formatted(texts.registry, texts.subject, patience.toSeconds(), texts.registry));
    }
  }

  /** Ends the thread. The entry stays as it is. */
  public void end() {
    synchronized (left) {
      stopped = true;
      // A call that waits for the registry ends.
      thread.interrupt();
    }
  }

  /** Returns why the registry may not have the entry, for people; null if it has it. */
  public @Nullable String problem() {
    return problem;
  }

  private void keep() {
    try {
      registerUntilStopped();
      synchronized (left) {
        // The removal must not be interrupted.
        var unused = Thread.interrupted();
      }
      if (leaves) {
        client.deregister();
      }
      left.complete(null);
    } catch (Throwable e) {
      left.completeExceptionally(e);
    }
  }

  private void registerUntilStopped() {
    boolean registered = false;
    boolean shown = false;
    boolean confirming = false;
    try {
      while (!stopped) {
        boolean there = false;
        Throwable failure = null;
        try {
          there = registered && client.isRegistered();
          if (!there) {
            client.register();
          }
        } catch (Throwable e) {
          // Also an Error: it would end this thread.
          failure = e;
        }
        if (stopped) {
          return;
        }
        if (failure != null) {
          failed(failure);
        } else if (there || !registered) {
          there(there);
        } else if (shown) {
          gone();
        } else {
          // Not every client tells of a refusal.
          failed(new IllegalStateException("it answered, but does not have the entry"));
        }
        tried.countDown();
        registered |= failure == null;
        shown |= there;
        // Not every registry shows at once what it took.
        confirming = failure == null && !there && !confirming;
        Thread.sleep((confirming ? confirmation : pause).toMillis());
      }
    } catch (InterruptedException e) {
      // It was stopped.
    }
  }

  private synchronized void failed(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String reason = OneLine.of(cause.toString(), 200);
    problem = "%s does not show it (%s)".formatted(texts.registry, reason);
    warn(
        "%s does not take or show the registration of %s (%s). This is retried until it succeeds. Until then, %s may not find it there. Check %s."
            .formatted(texts.registry, texts.subject, reason, texts.finders, texts.setting));
  }

  private synchronized void gone() {
    problem = texts.registry + " had lost it, and does not show it yet";
    warn(
        "%s had lost the registration of %s, which registered again. Until %s shows it, %s do not find it there."
            .formatted(texts.registry, texts.subject, texts.registry, texts.finders));
  }

  private synchronized void there(boolean confirmed) {
    problem = null;
    if (confirmed && warned) {
      news.accept("%s shows the registration of %s".formatted(texts.registry, texts.subject));
      warned = false;
    }
  }

  private void warn(String text) {
    if (!warned) {
      warnings.accept(text);
    }
    warned = true;
  }
}
