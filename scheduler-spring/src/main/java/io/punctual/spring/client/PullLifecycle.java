package io.punctual.spring.client;

import io.punctual.client.pull.PullRunner;
import org.springframework.context.SmartLifecycle;

/** Pulls while the application context runs: contexts may be stopped and started again. */
public record PullLifecycle(PullRunner runner) implements SmartLifecycle {

  @Override
  public void start() {
    runner.start();
  }

  @Override
  public void stop() {
    runner.close();
  }

  @Override
  public boolean isRunning() {
    return runner.isRunning();
  }

  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE;
  }
}
