package io.punctual.client.callback;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A call from this machine, without a web server. */
final class FakeExchange implements CallbackExchange {

  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private InputStream body = InputStream.nullInputStream();
  private String remoteAddress = "127.0.0.1";
  private String serverName = "localhost";
  private BooleanSupplier rest = () -> true;

  void addHeader(String name, String value) {
    headers.put(name, value);
  }

  void removeHeader(String name) {
    headers.remove(name);
  }

  void setBody(InputStream body) {
    this.body = body;
  }

  void setRemoteAddr(String address) {
    remoteAddress = address;
  }

  void setServerName(String name) {
    serverName = name;
  }

  /** Reads the rest of the body as a web server does after the answer. */
  boolean rest() {
    return rest.getAsBoolean();
  }

  @Override
  public String method() {
    return "POST";
  }

  @Override
  public @Nullable String header(String name) {
    return headers.get(name);
  }

  @Override
  public String remoteAddress() {
    return remoteAddress;
  }

  @Override
  public String serverName() {
    return serverName;
  }

  @Override
  public InputStream body() {
    return body;
  }

  @Override
  public OutputStream answer(int status, Map<String, String> headers) {
    return new ByteArrayOutputStream();
  }

  @Override
  public Runnable hold(Runnable broken) {
    return () -> {};
  }

  @Override
  public void afterAnswer(BooleanSupplier rest) {
    this.rest = rest;
  }
}
