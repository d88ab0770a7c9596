package io.punctual.demo.order;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.io.UnsupportedEncodingException;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.context.WebApplicationContext;

/** Uses the shop by its API. */
final class Customer {

  private final MockMvcTester shop;

  Customer(WebApplicationContext context) {
    shop = MockMvcTester.from(context);
  }

  MvcTestResult post(String path, String body) {
    return shop.post().uri(path).contentType(MediaType.APPLICATION_JSON).content(body).exchange();
  }

  MvcTestResult put(String path, String body) {
    return shop.put().uri(path).contentType(MediaType.APPLICATION_JSON).content(body).exchange();
  }

  MvcTestResult get(String path) {
    return shop.get().uri(path).exchange();
  }

  /** Orders one; answers the order's id. */
  String orders(String item) {
    MvcTestResult placed = post("/orders", "{\"item\":\"%s\"}".formatted(item));
    assertThat(placed).hasStatus(HttpStatus.CREATED);
    return (String) read(placed, "$.id");
  }

  MvcTestResult pays(String id) {
    return post("/orders/" + id + "/pay", "");
  }

  /** What the order says of itself. */
  Object sees(String id, String property) {
    MvcTestResult order = get("/orders/" + id);
    assertThat(order).hasStatusOk();
    return read(order, "$." + property);
  }

  /** How many of the item are left. */
  int left(String item) {
    List<?> found = (List<?>) read(get("/shop"), "$.items[?(@.name=='" + item + "')].available");
    return (int) found.getFirst();
  }

  /** What is wrong, in the shop's words. */
  static String detail(MvcTestResult result) {
    return (String) read(result, "$.detail");
  }

  private static Object read(MvcTestResult result, String path) {
    try {
      return JsonPath.read(result.getResponse().getContentAsString(), path);
    } catch (UnsupportedEncodingException e) {
      throw new IllegalStateException(e);
    }
  }
}
