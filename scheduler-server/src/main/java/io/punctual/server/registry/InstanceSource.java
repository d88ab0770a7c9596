package io.punctual.server.registry;

import java.util.Collection;
import java.util.List;
import org.springframework.cloud.client.ServiceInstance;

/** Where instances of applications are found. */
public interface InstanceSource {

  /** A word for people. */
  String name();

  /** The names of the applications that have instances. */
  Collection<String> applications();

  /**
   * Returns the instances of an application.
   *
   * @throws RuntimeException if they cannot be read now
   */
  List<? extends ServiceInstance> instances(String application);

  /** Reads the view again, if it is kept here. */
  default void refresh() {}
}
