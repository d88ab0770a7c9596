package io.punctual.server.web;

import io.punctual.server.jobs.PulledAnswer;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** Writes a {@link PulledAnswer} to its last byte, and tells it so. */
@Component
class PulledAnswerConverter extends AbstractHttpMessageConverter<PulledAnswer> {

  private final JsonMapper json;

  PulledAnswerConverter(JsonMapper json) {
    super(MediaType.APPLICATION_JSON);
    this.json = json;
  }

  @Override
  protected boolean supports(Class<?> type) {
    return type == PulledAnswer.class;
  }

  @Override
  protected boolean canRead(@Nullable MediaType mediaType) {
    return false;
  }

  @Override
  protected PulledAnswer readInternal(
      Class<? extends PulledAnswer> type, HttpInputMessage message) {
    throw new HttpMessageNotReadableException(
        "the scheduler writes answers to pulls, and reads none", message);
  }

  @Override
  protected void writeInternal(PulledAnswer answer, HttpOutputMessage message) throws IOException {
    byte[] bytes = json.writeValueAsBytes(answer.body());
    message.getHeaders().setContentLength(bytes.length);
    OutputStream out = message.getBody();
    out.write(bytes);
    out.flush();
    answer.written();
  }
}
