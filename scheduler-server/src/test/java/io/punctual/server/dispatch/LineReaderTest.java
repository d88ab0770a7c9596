package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineReaderTest {

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  /** One byte at a time, as from a worker that drips. */
  private static InputStream dripping(String text) {
    InputStream all = bytes(text);
    return new InputStream() {
      @Override
      public int read() throws IOException {
        return all.read();
      }

      @Override
      public int read(byte[] buffer, int offset, int length) throws IOException {
        return all.read(buffer, offset, Math.min(1, length));
      }
    };
  }

  private static List<String> lines(InputStream in, int maxLine, long maxTotal) throws IOException {
    LineReader reader = new LineReader(in, maxLine, maxTotal);
    List<String> lines = new ArrayList<>();
    String line;
    while ((line = reader.next()) != null) {
      lines.add(line);
    }
    return lines;
  }

  @Test
  void whatStandsBehindTheLastLineEndIsNoLine() throws IOException {
    assertThat(lines(bytes("one\r\n\ntwo ä\nthre"), 100, 1_000))
        .containsExactly("one", "", "two ä");
    assertThat(lines(dripping("one\ntwo ä\nthre"), 100, 1_000)).containsExactly("one", "two ä");
    assertThat(lines(bytes(""), 100, 1_000)).isEmpty();
  }

  @Test
  void aLineAndTheWholeAreBounded() throws IOException {
    assertThat(lines(bytes("12345\n"), 5, 6)).containsExactly("12345");
    assertThatThrownBy(() -> lines(bytes("123456\n"), 5, 1_000))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("a line of the answer is longer than 5 bytes");
    assertThatThrownBy(() -> lines(dripping("1\n2\n3\n"), 5, 4))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the answer is longer than 4 bytes");
  }
}
