package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The document names every call, and no other; {@link Contract} holds the answers to it. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class OpenApiIT extends SharedRedisTestBase {

  @Autowired private RequestMappingHandlerMapping requestMappingHandlerMapping;
  @Autowired private RequestMappingHandlerAdapter requestMappingHandlerAdapter;

  @Test
  void noConverterOfXmlIsAskedAtEachAnswer() {
    assertThat(requestMappingHandlerAdapter.getMessageConverters())
        .flatExtracting(HttpMessageConverter::getSupportedMediaTypes)
        .contains(MediaType.APPLICATION_JSON)
        .noneMatch(type -> type.getSubtype().endsWith("xml"));
  }

  @Test
  void theDocumentNamesExactlyTheCallsThatThereAre() {
    Set<String> calls = new TreeSet<>();
    for (RequestMappingInfo call : requestMappingHandlerMapping.getHandlerMethods().keySet()) {
      for (String path : call.getPatternValues()) {
        if (path.startsWith("/api/")) {
          call.getMethodsCondition().getMethods().forEach(method -> calls.add(method + " " + path));
        }
      }
    }
    assertThat(calls).hasSizeGreaterThan(20).isEqualTo(Contract.operations());
  }

  @Test
  void anAnswerThatTheDocumentDoesNotDescribeIsFoundOut() {
    HttpHeaders json =
        HttpHeaders.of(Map.of("Content-Type", List.of("application/json")), (n, v) -> true);
    String good = "{\"items\":[],\"nextCursor\":null}";
    Contract.check("GET", "/api/v1/queues", ApiClient.Answer.of(200, json, good));
    for (String bad :
        List.of("{\"items\":[]}", good.replace("null", "1"), good.replace("}", ",\"more\":1}"))) {
      ApiClient.Answer answer = ApiClient.Answer.of(200, json, bad);
      assertThatThrownBy(() -> Contract.check("GET", "/api/v1/queues", answer))
          .isInstanceOf(AssertionError.class);
    }
    ApiClient.Answer created = ApiClient.Answer.of(201, json, good);
    assertThatThrownBy(() -> Contract.check("GET", "/api/v1/queues", created))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void theDocumentIsServed() {
    try (ApiClient api = new ApiClient(port)) {
      ApiClient.Answer answer = api.get("/api/v1/openapi.yaml");
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.contentType()).startsWith("application/yaml");
      assertThat(answer.text()).startsWith("openapi: 3.1.0").contains("/api/v1/command:");
    }
  }
}
