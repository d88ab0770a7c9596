package io.punctual.server.dispatch.callback;

import io.punctual.wire.CallbackSignature;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hands out the lines of an answer that count: each at once where answers are not signed, else
 * those of one part together, once the part's signature was verified.
 */
final class SignedLines {

  /** Longest line, in bytes. */
  static final int MAX_LINE = 64 * 1024;

  private static final int MIN_UNSIGNED = 64 * 1024;
  private static final int UNSIGNED_OF_A_JOB = 4 * 1024;
  private static final int ANSWER_OF_A_JOB = 64 * 1024;
  private static final byte[] SIGNATURE = "{\"signature\":\"".getBytes(StandardCharsets.UTF_8);

  /** How a signed answer is wrong. */
  enum Fault {
    /** It ended, or went on for too long, without a signature. */
    MISSING,
    /** A signature is not that of the application's key. */
    WRONG
  }

  /** The answer is not signed as it must be. */
  static final class FaultException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Fault fault;

    FaultException(Fault fault) {
      super(fault.name());
      this.fault = fault;
    }

    Fault fault() {
      return fault;
    }
  }

  private final LineReader lines;
  private final CallbackSigner signer;
  private final int maxUnsigned;
  private final AnswerMemory.Share memory;
  private final List<byte[]> part = new ArrayList<>();
  private int partBytes;
  private int frame;

  /**
   * @param jobs how many jobs the call carried; bounds the size of the answer
   */
  SignedLines(InputStream body, int jobs, CallbackSigner signer, AnswerMemory.Share memory) {
    this(
        new LineReader(body, MAX_LINE, (long) ANSWER_OF_A_JOB * (jobs + 1), memory),
        Math.max(MIN_UNSIGNED, jobs * UNSIGNED_OF_A_JOB),
        signer,
        memory);
  }

  private SignedLines(
      LineReader lines, int maxUnsigned, CallbackSigner signer, AnswerMemory.Share memory) {
    this.lines = lines;
    this.maxUnsigned = maxUnsigned;
    this.signer = signer;
    this.memory = memory;
  }

  /** The whole answer to a ping, of which a line may be all. */
  static SignedLines ofPing(byte[] body, CallbackSigner signer, AnswerMemory.Share memory) {
    // A reader asks for a byte more, to see the end.
    int most = body.length + 1;
    return new SignedLines(
        new LineReader(new ByteArrayInputStream(body), most, most, memory), most, signer, memory);
  }

  /**
   * Returns the next lines that count, in order; null when the answer ended as it must.
   *
   * @throws FaultException if the answer must be signed and is not
   * @throws BadAnswerException if a bound was passed
   * @throws IOException if the connection broke
   */
  @Nullable List<byte[]> next() throws IOException, FaultException {
    byte[] line;
    while ((line = lines.next()) != null) {
      String signature = signature(line);
      if (!signer.answerIsSigned()) {
        if (signature == null) {
          return List.of(line);
        }
      } else if (signature == null) {
        add(line);
      } else if (signer.isOnAnswer(signature, content())) {
        frame++;
        return taken();
      } else {
        throw new FaultException(Fault.WRONG);
      }
    }
    if (!part.isEmpty()) {
      throw new FaultException(Fault.MISSING);
    }
    return null;
  }

  /** A line that was handed out was one that was waited for. */
  void counts() {
    lines.counts();
  }

  /** Whether a part was verified. */
  boolean isProven() {
    return frame > 0;
  }

  private void add(byte[] line) throws IOException, FaultException {
    int bytes = line.length + 1;
    if (partBytes + bytes > maxUnsigned) {
      throw new FaultException(Fault.MISSING);
    }
    memory.take(bytes);
    part.add(line);
    partBytes += bytes;
  }

  private byte[] content() {
    ByteArrayOutputStream all = new ByteArrayOutputStream(partBytes + 16);
    all.writeBytes(CallbackSignature.frame(frame, "").getBytes(StandardCharsets.UTF_8));
    for (byte[] line : part) {
      all.writeBytes(line);
      all.write('\n');
    }
    return all.toByteArray();
  }

  private List<byte[]> taken() {
    List<byte[]> lines = List.copyOf(part);
    part.clear();
    memory.give(partBytes);
    partBytes = 0;
    return lines;
  }

  private static @Nullable String signature(byte[] line) {
    boolean begins =
        line.length > SIGNATURE.length
            && Arrays.equals(line, 0, SIGNATURE.length, SIGNATURE, 0, SIGNATURE.length);
    return begins ? CallbackSignature.ofLine(new String(line, StandardCharsets.UTF_8)) : null;
  }
}
