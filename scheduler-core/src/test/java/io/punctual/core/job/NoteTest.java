package io.punctual.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NoteTest {

  @Test
  void whatIsWrittenIsReadBack() {
    Note note = new Note("10.0.0.1:8081", "line 1\nline 2");
    assertThat(Note.decode(note.encode())).isEqualTo(note);
    assertThat(Note.decode(new byte[0])).isEqualTo(new Note("", ""));
  }

  @Test
  void aLongMessageIsCutBetweenCharacters() {
    for (int shift = 0; shift < 4; shift++) {
      byte[] bytes = new Note("i".repeat(shift), "😀".repeat(1000)).encode();
      assertThat(bytes.length).isBetween(Note.MAX_BYTES - 3, Note.MAX_BYTES);
      assertThat(Note.decode(bytes).message()).matches("(😀)+");
    }
  }

  @Test
  void theInstanceCannotPretendToBeTheMessage() {
    Note read = Note.decode(new Note("a\nb", "c").encode());
    assertThat(read).isEqualTo(new Note("a b", "c"));
  }
}
