package io.punctual.registry;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.springframework.security.crypto.password.PasswordEncoder;

/**
 * Keeps a password as a keyed digest, for as long as the program runs. It is cheap, since every
 * fetch of every scheduler is checked, and may be, since nothing is stored and {@link PasswordRule}
 * keeps out what can be guessed. Texts of any length are compared in the same time.
 */
final class SecretEncoder implements PasswordEncoder {

  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  SecretEncoder() {
    byte[] random = new byte[32];
    new SecureRandom().nextBytes(random);
    this.key = new SecretKeySpec(random, ALGORITHM);
  }

  @Override
  public String encode(@Nullable CharSequence password) {
    return HexFormat.of().formatHex(digest(password));
  }

  @Override
  public boolean matches(@Nullable CharSequence password, @Nullable String encoded) {
    return encoded != null
        && MessageDigest.isEqual(
            encode(password).getBytes(StandardCharsets.US_ASCII),
            encoded.getBytes(StandardCharsets.US_ASCII));
  }

  private byte[] digest(@Nullable CharSequence password) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac.doFinal(String.valueOf(password).getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }
}
