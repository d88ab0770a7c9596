package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShownTest {

  private final Shown shown = new Shown();

  /** Every character that there is, of these kinds. */
  @Test
  void whatNobodySeesIsShownAsItsCode() {
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      int type = Character.getType(c);
      boolean unseen =
          type == Character.CONTROL
              || type == Character.FORMAT
              || type == Character.LINE_SEPARATOR
              || type == Character.PARAGRAPH_SEPARATOR
              || type == Character.SURROGATE;
      String text = Character.toString(c);
      String code = "a\u27E8U+%04X\u27E9b".formatted(c);
      assertThat(shown.text("a" + text + "b")).isEqualTo(unseen ? code : "a" + text + "b");
      boolean kept = c == '\n' || c == '\t';
      assertThat(shown.lines("a" + text + "b"))
          .isEqualTo(unseen && !kept ? code : "a" + text + "b");
    }
  }

  @Test
  void linesStayLines() {
    assertThat(shown.lines("a\r\n\tb\rc\u200b"))
        .isEqualTo("a\r\n\tb\u27E8U+000D\u27E9c\u27E8U+200B\u27E9");
    assertThat(shown.text(null)).isEmpty();
    assertThat(shown.lines(null)).isEmpty();
  }

  @Test
  void timesInATextAreFound() {
    assertThat(shown.timed("paused since 2026-11-29T18:00:00.123Z until 2026-11-30T00:00:00Z: so"))
        .containsExactly(
            new Shown.Piece("paused since ", false),
            new Shown.Piece("2026-11-29T18:00:00.123Z", true),
            new Shown.Piece(" until ", false),
            new Shown.Piece("2026-11-30T00:00:00Z", true),
            new Shown.Piece(": so", false));
    assertThat(shown.timed("none")).containsExactly(new Shown.Piece("none", false));
  }
}
