package io.punctual.server.registry;

import java.util.Collection;
import java.util.List;
import org.springframework.cloud.client.ServiceInstance;

/** Finds the instances of applications. */
public interface InstanceSource {

  /** A word for people. */
  String name();

  /**
   * The names of the applications that have instances.
   *
   * @throws RuntimeException if they cannot be read now
   */
  Collection<String> applications();

  /**
   * Returns the instances of an application.
   *
   * @throws RuntimeException if they cannot be read now
   */
  List<? extends ServiceInstance> instances(String application);
}
