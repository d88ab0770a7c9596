package io.punctual.server.dispatch.callback;

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
    AnswerMemory memory = new AnswerMemory(1_000_000);
    try (AnswerMemory.Share share = memory.share()) {
      LineReader reader = new LineReader(in, maxLine, maxTotal, share);
      List<String> lines = new ArrayList<>();
      byte[] line;
      while ((line = reader.next()) != null) {
        lines.add(new String(line, StandardCharsets.UTF_8));
      }
      return lines;
    } finally {
      assertThat(memory.used()).isZero();
    }
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

  @Test
  void theBoundBeginsAnewWithALineThatCounts() throws IOException {
    AnswerMemory memory = new AnswerMemory(1_000_000);
    try (AnswerMemory.Share share = memory.share()) {
      LineReader reader = new LineReader(dripping("12\n34\n56\n"), 5, 4, share);
      for (String line : List.of("12", "34", "56")) {
        assertThat(reader.next()).isEqualTo(line.getBytes(StandardCharsets.UTF_8));
        reader.counts();
      }
    }
  }

  @Test
  void whatGrowsBeyondTheMemoryOfAllAnswersEnds() {
    AnswerMemory memory = new AnswerMemory(10_000);
    try (AnswerMemory.Share share = memory.share()) {
      LineReader reader = new LineReader(bytes("x".repeat(60_000)), 64_000, 64_000, share);
      assertThatThrownBy(reader::next)
          .isInstanceOf(BadAnswerException.class)
          .hasMessageContaining("more than 10000 bytes of the scheduler's heap together");
      assertThat(memory.used()).isPositive().isLessThanOrEqualTo(10_000);
    }
    assertThat(memory.used()).isZero();
  }
}
