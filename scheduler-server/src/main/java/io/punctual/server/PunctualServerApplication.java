package io.punctual.server;

import io.punctual.server.cli.Commands;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/** The scheduler as a program. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class PunctualServerApplication {

  public static void main(String[] args) {
    if (Commands.areMeant(args)) {
      LoggingSystem.get(PunctualServerApplication.class.getClassLoader())
          .setLogLevel(LoggingSystem.ROOT_LOGGER_NAME, LogLevel.ERROR);
      System.exit(new Commands(System.in, System.out, System.err).run(args));
    }
    SpringApplication.run(PunctualServerApplication.class, args);
  }
}
