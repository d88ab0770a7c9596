package io.punctual.core.engine;

import io.punctual.core.store.LeaseToken;
import java.security.SecureRandom;
import java.util.Base64;

/** Names that nobody can guess. */
final class Secrets {

  private static final SecureRandom RANDOM = new SecureRandom();

  private Secrets() {}

  /** 12 characters of [A-Za-z0-9_-]. */
  static String incarnation() {
    return text(9);
  }

  static LeaseToken leaseToken() {
    return new LeaseToken(text(15));
  }

  private static String text(int bytes) {
    byte[] random = new byte[bytes];
    RANDOM.nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }
}
