package io.punctual.redis;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Just enough of the Redis protocol to set servers up: one command, one reply as text. */
public final class Resp {

  private static final int TIMEOUT_MS = 5_000;

  private Resp() {}

  /**
   * Sends one command on a connection of its own.
   *
   * @return the reply as text; a list has its elements on lines
   * @throws IOException if there was no reply, or an error reply
   */
  public static String call(int port, String... words) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MS);
      socket.setSoTimeout(TIMEOUT_MS);
      StringBuilder command = new StringBuilder("*").append(words.length).append("\r\n");
      for (String word : words) {
        int length = word.getBytes(StandardCharsets.UTF_8).length;
        command.append('$').append(length).append("\r\n").append(word).append("\r\n");
      }
      socket.getOutputStream().write(command.toString().getBytes(StandardCharsets.UTF_8));
      return read(new BufferedInputStream(socket.getInputStream()));
    }
  }

  private static String read(InputStream in) throws IOException {
    String line = line(in);
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+', ':' -> rest;
      case '-' -> throw new IOException(rest);
      case '$' -> bulk(in, Integer.parseInt(rest));
      case '*' -> list(in, Integer.parseInt(rest));
      default -> throw new IOException("not a Redis reply: " + line);
    };
  }

  private static String bulk(InputStream in, int length) throws IOException {
    if (length < 0) {
      return "";
    }
    String text = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    line(in);
    return text;
  }

  private static String list(InputStream in, int count) throws IOException {
    List<String> elements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      elements.add(read(in));
    }
    return String.join("\n", elements);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    int c;
    while ((c = in.read()) != '\n') {
      if (c < 0) {
        throw new EOFException("the connection ended");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.length() == 0 ? " " : line.toString();
  }
}
