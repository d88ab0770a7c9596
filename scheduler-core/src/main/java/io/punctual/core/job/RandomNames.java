package io.punctual.core.job;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;

/** Names that do not come twice. */
public final class RandomNames {

  private static final SecureRandom RANDOM = new SecureRandom();

  private RandomNames() {}

  /**
   * 7 characters of [A-Za-z0-9_-]. It tells a job from an earlier one of the same id; nobody is let
   * in for knowing it. It stands in every record, so it is short.
   */
  public static String incarnation() {
    byte[] random = new byte[6];
    ThreadLocalRandom.current().nextBytes(random);
    return encoded(random).substring(1);
  }

  /** Nobody can guess it. */
  public static LeaseToken leaseToken() {
    byte[] random = new byte[15];
    RANDOM.nextBytes(random);
    return new LeaseToken(encoded(random));
  }

  private static String encoded(byte[] random) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }
}
