package io.punctual.server;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** The scheduler as a program. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class PunctualServerApplication {

  public static void main(String[] args) {
    SpringApplication.run(PunctualServerApplication.class, args);
  }
}
