package io.punctual.benchmark.contender;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** An application with nothing in it but what the class path brings. */
@SpringBootConfiguration
@EnableAutoConfiguration
class BareApplication {}
