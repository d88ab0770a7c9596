package io.punctual.server.dispatch.callback;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.io.ModalCloseable;
import org.jspecify.annotations.Nullable;

/**
 * The head of an answer, and its body as it comes. To be closed: a body that was read to its end
 * leaves the connection for the next call, another one ends it.
 */
final class Answer implements AutoCloseable {

  private final ClassicHttpResponse response;
  private final InputStream body;
  private boolean ended;

  Answer(ClassicHttpResponse response) throws IOException {
    this.response = response;
    HttpEntity entity = response.getEntity();
    this.ended = entity == null;
    this.body = entity == null ? InputStream.nullInputStream() : new Body(entity.getContent());
  }

  int status() {
    return response.getCode();
  }

  /** The first value of a header; null if there is none. */
  @Nullable String header(String name) {
    Header header = response.getFirstHeader(name);
    return header == null ? null : header.getValue();
  }

  HttpHeaders headers() {
    Map<String, List<String>> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (Header header : response.getHeaders()) {
      String value = header.getValue();
      all.computeIfAbsent(header.getName(), name -> new ArrayList<>())
          .add(value == null ? "" : value);
    }
    return HttpHeaders.of(all, (name, value) -> true);
  }

  /** Whether nothing of the body is left to be read. */
  boolean isEnded() {
    return ended;
  }

  InputStream body() {
    return body;
  }

  @Override
  public void close() {
    if (!ended && response instanceof ModalCloseable open) {
      // Not the other way, which would read the rest.
      open.close(CloseMode.IMMEDIATE);
    }
  }

  private final class Body extends FilterInputStream {

    Body(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int count = super.read(into, offset, length);
      ended |= count < 0;
      return count;
    }
  }
}
