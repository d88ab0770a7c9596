package io.punctual.server;

import io.punctual.server.security.Commands;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** The scheduler as a program. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class PunctualServerApplication {

  public static void main(String[] args) {
    if (Commands.areMeant(args)) {
      System.exit(new Commands(System.in, System.out, System.err).run(args));
    }
    SpringApplication.run(PunctualServerApplication.class, args);
  }
}
