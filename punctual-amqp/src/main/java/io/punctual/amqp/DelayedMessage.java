package io.punctual.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.impl.ContentHeaderPropertyWriter;
import io.punctual.InvalidJobException;
import io.punctual.RejectTaskException;
import io.punctual.wire.Limits;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A message that waits, as the params of its job: {@code exchange} and {@code routingKey}, the
 * {@code properties} in the coding of AMQP 0-9-1 as Base64, and its body as {@code text} or, if it
 * is no readable UTF-8, as {@code body} in Base64.
 */
record DelayedMessage(
    String exchange, String routingKey, AMQP.BasicProperties properties, byte[] body) {

  /** Not the application's mapper: what it stored yesterday must be read tomorrow. */
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** The longest "short string" of AMQP, in bytes. */
  private static final int MAX_SHORT = 255;

  /** Where the message goes, in words for errors. */
  String target() {
    return "exchange '" + exchange + "' with routing key '" + routingKey + "'";
  }

  /**
   * Writes the params of the job.
   *
   * @throws InvalidJobException if AMQP or Punctual cannot hold the message
   */
  String toParams() {
    requireShort("exchange", exchange);
    requireShort("routing key", routingKey);
    byte[] head = write(properties);
    ObjectNode params = JSON.createObjectNode();
    params.put("exchange", exchange).put("routingKey", routingKey).put("properties", base64(head));
    String text = readable(body);
    if (text == null) {
      params.put("body", base64(body));
    } else {
      params.put("text", text);
    }
    String written = JSON.writeValueAsString(params);
    if (!Limits.isParams(written)) {
      throw new InvalidJobException(
          "The message for %s is too large to wait in Punctual: its body has %,d bytes and its properties %,d; as a job they are %,d bytes, and %,d are allowed. Store the body elsewhere and send a reference to it."
              .formatted(
                  target(),
                  body.length,
                  head.length,
                  written.getBytes(StandardCharsets.UTF_8).length,
                  Limits.MAX_PARAMS_BYTES));
    }
    return written;
  }

  /**
   * Reads the params of a job.
   *
   * @throws RejectTaskException if they are no message
   */
  static DelayedMessage parse(String params) {
    try {
      JsonNode node = JSON.readTree(params);
      JsonNode text = node.path("text");
      return new DelayedMessage(
          node.path("exchange").stringValue(),
          node.path("routingKey").stringValue(),
          read(Base64.getDecoder().decode(node.path("properties").stringValue())),
          text.isString()
              ? text.stringValue().getBytes(StandardCharsets.UTF_8)
              : Base64.getDecoder().decode(node.path("body").stringValue()));
    } catch (JacksonException | IllegalArgumentException | IOException e) {
      throw new RejectTaskException(
          "The params are not those of a delayed message ("
              + e.getMessage()
              + "). Let DelayedRabbitTemplate submit jobs of the type "
              + DelayedRabbitTemplate.TASK_TYPE
              + ".");
    }
  }

  private static void requireShort(String what, String value) {
    int length = value.getBytes(StandardCharsets.UTF_8).length;
    if (length > MAX_SHORT) {
      throw new InvalidJobException(
          "The %s must be at most %d bytes of UTF-8, as AMQP says, but has %d."
              .formatted(what, MAX_SHORT, length));
    }
  }

  private static byte[] write(AMQP.BasicProperties properties) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      // Weight and size of the body, which the client's reader expects in front.
      out.writeShort(0);
      out.writeLong(0);
      properties.writePropertiesTo(new ContentHeaderPropertyWriter(out));
    } catch (IOException | IllegalArgumentException e) {
      InvalidJobException invalid =
          new InvalidJobException(
              "AMQP cannot hold a property or header of the message: " + e.getMessage());
      invalid.initCause(e);
      throw invalid;
    }
    return bytes.toByteArray();
  }

  private static AMQP.BasicProperties read(byte[] head) throws IOException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(head))) {
      return new AMQP.BasicProperties(in);
    }
  }

  /** Returns null if the body is not UTF-8 that a person can read. */
  private static @Nullable String readable(byte[] body) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      return text.chars().allMatch(c -> c >= ' ' || c == '\n' || c == '\r' || c == '\t')
          ? text
          : null;
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }
}
