package io.punctual.spring;

import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** A mapper as an application sets it up. */
final class SnakeCaseMapper {

  private SnakeCaseMapper() {}

  static JsonMapper create() {
    return JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();
  }
}
