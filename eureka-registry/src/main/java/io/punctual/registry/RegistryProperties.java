package io.punctual.registry;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who may use the registry.
 *
 * @param password of all applications, schedulers, peers and people, whose name is {@code
 *     punctual}; what it must be like stands in {@link PasswordRule}
 */
@ConfigurationProperties("punctual.registry")
record RegistryProperties(@DefaultValue("") String password) {

  /** The one name that the registry knows. */
  static final String USERNAME = "punctual";

  @Override
  public String toString() {
    return "RegistryProperties[password=(not shown)]";
  }
}
