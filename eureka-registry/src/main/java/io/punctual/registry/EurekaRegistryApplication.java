package io.punctual.registry;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.netflix.eureka.server.EnableEurekaServer;

/**
 * The registry as a program; its settings stand in application.yml and are explained in README.md.
 */
@SpringBootApplication
@EnableEurekaServer
public class EurekaRegistryApplication {

  public static void main(String[] args) {
    SpringApplication.run(EurekaRegistryApplication.class, args);
  }
}
