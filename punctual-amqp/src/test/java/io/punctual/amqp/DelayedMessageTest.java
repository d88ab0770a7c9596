package io.punctual.amqp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import io.punctual.InvalidJobException;
import io.punctual.RejectTaskException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DelayedMessageTest {

  private static DelayedMessage message(AMQP.BasicProperties properties, byte[] body) {
    return new DelayedMessage("orders", "order.close", properties, body);
  }

  private static byte[] everyByte() {
    byte[] body = new byte[256];
    for (int i = 0; i < body.length; i++) {
      body[i] = (byte) i;
    }
    return body;
  }

  @Test
  void aMessageIsTheSameAfterItWasStored() {
    Map<String, Object> headers = new LinkedHashMap<>();
    headers.put("text", "ä€𝄞\n");
    headers.put("int", 1);
    headers.put("long", 1L << 40);
    headers.put("short", (short) 7);
    headers.put("byte", (byte) 7);
    headers.put("double", 1.5);
    headers.put("float", 2.5f);
    headers.put("boolean", true);
    headers.put("decimal", new BigDecimal("12.34"));
    headers.put("date", Date.from(Instant.parse("2026-11-29T05:00:00Z")));
    headers.put("bytes", new byte[] {0, -1, 127});
    headers.put("list", List.of(1, "two"));
    headers.put("map", Map.of("deep", Map.of("er", 3)));
    headers.put("nothing", null);
    AMQP.BasicProperties properties =
        new AMQP.BasicProperties(
            "application/json",
            "gzip",
            headers,
            2,
            9,
            "correlation",
            "reply",
            "60000",
            "message-1",
            Date.from(Instant.parse("2026-11-29T05:00:00Z")),
            "type",
            "guest",
            "app",
            "cluster");

    String stored = message(properties, everyByte()).toParams();
    DelayedMessage read = DelayedMessage.parse(stored);

    assertThat(read.exchange()).isEqualTo("orders");
    assertThat(read.routingKey()).isEqualTo("order.close");
    assertThat(read.body()).isEqualTo(everyByte());
    assertThat(read.properties().getHeaders()).containsOnlyKeys(headers.keySet());
    // Each value in the bytes that RabbitMQ gets.
    for (String name : headers.keySet()) {
      assertThat(encoded(name, read.properties().getHeaders().get(name)))
          .as(name)
          .isEqualTo(encoded(name, headers.get(name)));
    }
    assertThat(read.properties().builder().headers(null).build())
        .isEqualTo(properties.builder().headers(null).build());
  }

  private static String encoded(String name, Object value) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put(name, value);
    return message(new AMQP.BasicProperties.Builder().headers(one).build(), new byte[0]).toParams();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{\"id\":1}", "äöü\t\r\n 中文 𝄞"})
  void aBodyThatIsTextCanBeRead(String text) {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    String stored = message(new AMQP.BasicProperties(), body).toParams();
    assertThat(stored)
        .contains(
            "\"text\":\"" + text.substring(0, Math.min(1, text.length())).replace("\"", "\\\""))
        .doesNotContain("\"body\"");
    assertThat(DelayedMessage.parse(stored).body()).isEqualTo(body);
  }

  @Test
  void aBodyThatIsTooLargeIsRefusedWithItsFigures() {
    byte[] body = new byte[196_000];
    assertThat(DelayedMessage.parse(message(new AMQP.BasicProperties(), body).toParams()).body())
        .hasSize(196_000);

    assertThatThrownBy(() -> message(new AMQP.BasicProperties(), new byte[200_000]).toParams())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("exchange 'orders' with routing key 'order.close'")
        .hasMessageContaining("its body has 200,000 bytes")
        .hasMessageContaining("262,144 are allowed")
        .hasMessageContaining("send a reference");
  }

  @Test
  void whatAmqpCannotHoldIsRefused() {
    char[] long256 = new char[256];
    Arrays.fill(long256, 'k');
    String tooLong = new String(long256);
    assertThatThrownBy(
            () ->
                new DelayedMessage("orders", tooLong, new AMQP.BasicProperties(), new byte[0])
                    .toParams())
        .isInstanceOf(InvalidJobException.class)
        .hasMessage(
            "The routing key must be at most 255 bytes of UTF-8, as AMQP says, but has 256.");
    assertThatThrownBy(
            () ->
                message(new AMQP.BasicProperties.Builder().type(tooLong).build(), new byte[0])
                    .toParams())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("AMQP cannot hold");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no json",
        "{}",
        "{\"exchange\":\"e\",\"routingKey\":\"r\",\"properties\":\"%\",\"text\":\"\"}",
        "{\"exchange\":\"e\",\"routingKey\":\"r\",\"properties\":\"AA==\",\"text\":\"\"}"
      })
  void paramsOfAnotherKindAreADeadLetterAtOnce(String params) {
    assertThatThrownBy(() -> DelayedMessage.parse(params))
        .isInstanceOf(RejectTaskException.class)
        .hasMessageContaining("not those of a delayed message");
  }
}
