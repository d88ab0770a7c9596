package io.punctual.server.security;

import io.punctual.wire.CallbackSignature;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of callers and of signed callbacks.
 *
 * @param signingKeys secrets from which each application's key is derived, 32 characters or more,
 *     newest first, at most 3; callbacks are signed with all of them, so that they can be changed
 *     without a gap. Made by the command {@code signing-key}
 * @param operators people, by name: {@code password}, its hash as the command {@code password}
 *     makes it, and {@code role}: viewer, operator or admin
 * @param unsignedAnswers applications whose workers do not sign their answers: a program that gets
 *     into the registry under such a name can read its jobs, and make them disappear
 */
@ConfigurationProperties("punctual.security")
public record SecurityProperties(
    @DefaultValue List<String> signingKeys,
    @DefaultValue Map<String, Operator> operators,
    @DefaultValue List<String> unsignedAnswers) {

  private static final int MAX_KEYS = 3;
  private static final Pattern HASH =
      Pattern.compile("\\{bcrypt}\\$2[aby]\\$\\d\\d\\$[./A-Za-z0-9]{53}");

  /** Checks the values. */
  public SecurityProperties {
    signingKeys = List.copyOf(signingKeys);
    operators = Map.copyOf(operators);
    unsignedAnswers = unsignedAnswers.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    if (signingKeys.size() > MAX_KEYS) {
      throw new IllegalArgumentException(
          "punctual.security.signing-keys must be at most " + MAX_KEYS);
    }
    for (int i = 0; i < signingKeys.size(); i++) {
      String wrong = Secrets.weakness(signingKeys.get(i));
      if (wrong != null) {
        throw new IllegalArgumentException(
            "punctual.security.signing-keys[" + i + "] " + wrong + "; " + Secrets.MAKE_KEY);
      }
    }
    operators.forEach(
        (name, operator) -> {
          if (!name.matches("[A-Za-z0-9._@-]{1,64}")) {
            throw new IllegalArgumentException(
                "punctual.security.operators: a name must be 1 to 64 of A-Z a-z 0-9 . _ @ -");
          }
          if (!HASH.matcher(operator.password()).matches()) {
            throw new IllegalArgumentException(
                "punctual.security.operators."
                    + name
                    + ".password must be a hash such as {bcrypt}...; make one with the command"
                    + " password");
          }
        });
  }

  /** The keys with which callbacks of an application are signed, newest first. */
  public List<CallbackSignature.Key> keysOf(String application) {
    return signingKeys.stream()
        .map(master -> CallbackSignature.Key.derived(master, application))
        .toList();
  }

  @Override
  public String toString() {
    return "SecurityProperties[operators=" + operators.keySet() + "]";
  }

  /**
   * One of those who look after the scheduler.
   *
   * @param password its hash, as the command {@code password} makes it
   */
  public record Operator(String password, Role role) {

    /** Checks the values. */
    @SuppressWarnings({"NullAway", "ConstantConditions"}) // What is not set is null here.
    public Operator {
      if (password == null || role == null) {
        throw new IllegalArgumentException(
            "punctual.security.operators: each needs a password and a role (viewer, operator,"
                + " admin)");
      }
    }

    @Override
    public String toString() {
      return "Operator[role=" + role + "]";
    }
  }
}
