package io.punctual.server.rest;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The description of the API for programs: written by hand, and held to by the tests. */
@RestController
class OpenApiController {

  private static final String FILE = "io/punctual/server/openapi.yaml";

  @GetMapping(path = "/api/v1/openapi.yaml", produces = "application/yaml")
  Resource document() {
    return new ClassPathResource(FILE);
  }
}
