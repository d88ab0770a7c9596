package io.punctual.test.redis;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Lets all tests of a run wait for a minute where they do not say how long: a machine that does
 * other things as well is many times slower than a desk's, and a test that passes waits for
 * nothing.
 */
public final class Patience implements LauncherSessionListener {

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
  }
}
