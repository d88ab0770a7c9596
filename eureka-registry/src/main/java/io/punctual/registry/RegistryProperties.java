package io.punctual.registry;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who may use the registry.
 *
 * @param username of all applications, schedulers, peers and people
 * @param password of the same; what it must be like stands in {@link PasswordRule}
 */
@ConfigurationProperties("punctual.registry")
record RegistryProperties(
    @DefaultValue("punctual") String username, @DefaultValue("") String password) {

  @Override
  public String toString() {
    return "RegistryProperties[username=" + username + ", password=(not shown)]";
  }
}
