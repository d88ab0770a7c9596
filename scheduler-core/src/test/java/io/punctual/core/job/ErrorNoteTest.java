package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ErrorNoteTest {

  @Test
  void whatIsWrittenIsReadBack() {
    ErrorNote note = new ErrorNote("10.0.0.1:8081", "line 1\nline 2");
    assertThat(ErrorNote.decode(note.encode())).isEqualTo(note);
    ErrorNote released = new ErrorNote("10.0.0.1:8081", "2.14.0", "a\tb");
    assertThat(ErrorNote.decode(released.encode())).isEqualTo(released);
    assertThat(ErrorNote.decode(new byte[0])).isEqualTo(new ErrorNote("", ""));
  }

  @Test
  void aLongMessageIsCutBetweenCharacters() {
    for (int shift = 0; shift < 4; shift++) {
      byte[] bytes = new ErrorNote("i".repeat(shift), "😀".repeat(1000)).encode();
      assertThat(bytes.length).isBetween(ErrorNote.MAX_BYTES - 3, ErrorNote.MAX_BYTES);
      assertThat(ErrorNote.decode(bytes).message()).matches("(😀)+");
    }
  }

  @Test
  void theInstanceCannotPretendToBeTheMessage() {
    ErrorNote read = ErrorNote.decode(new ErrorNote("a\nb", "c").encode());
    assertThat(read).isEqualTo(new ErrorNote("a b", "c"));
    ErrorNote tabs = ErrorNote.decode(new ErrorNote("a\tb", "1\t2\n3", "c").encode());
    assertThat(tabs).isEqualTo(new ErrorNote("a b", "1 2 3", "c"));
  }
}
