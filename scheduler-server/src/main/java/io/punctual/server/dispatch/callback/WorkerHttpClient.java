package io.punctual.server.dispatch.callback;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.SchemePortResolver;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.DefaultSchemePortResolver;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.DefaultHttpClientConnectionOperator;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.io.HttpClientConnectionOperator;
import org.apache.hc.client5.http.ssl.ClientTlsStrategyBuilder;
import org.apache.hc.client5.http.ssl.HostnameVerificationPolicy;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.ParseException;
import org.apache.hc.core5.http.ProtocolException;
import org.apache.hc.core5.http.URIScheme;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.config.RegistryBuilder;
import org.apache.hc.core5.http.impl.io.DefaultClassicHttpResponseFactory;
import org.apache.hc.core5.http.impl.io.DefaultHttpRequestWriterFactory;
import org.apache.hc.core5.http.impl.io.DefaultHttpResponseParserFactory;
import org.apache.hc.core5.http.impl.io.HttpRequestExecutor;
import org.apache.hc.core5.http.io.HttpClientConnection;
import org.apache.hc.core5.http.io.HttpResponseInformationCallback;
import org.apache.hc.core5.http.message.BasicLineParser;
import org.apache.hc.core5.http.message.StatusLine;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.pool.PoolReusePolicy;
import org.apache.hc.core5.util.CharArrayBuffer;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/**
 * The HTTP client for calls to workers. Blocks its caller, which is a virtual thread. Follows no
 * redirect, uses no proxy, keeps no cookie, decompresses nothing and repeats nothing by itself; it
 * connects to addresses that {@link CallbackTargets} allows, and to no other.
 */
public final class WorkerHttpClient implements AutoCloseable {

  private static final Duration HANDSHAKE = Duration.ofSeconds(5);
  private static final TimeValue IDLE = TimeValue.ofSeconds(30);
  private static final int BUFFER = 8 * 1024;
  private static final int MAX_HEAD_LINE = 16 * 1024;
  private static final int MAX_HEADERS = 100;
  private static final int MAX_INTERIM_ANSWERS = 8;

  private static final int TLS_PATIENCE_MS = 1_000;

  private final CloseableHttpClient client;
  private final CallbackTargets targets;

  /**
   * @param connectTimeout how long one connection may take, without TLS
   * @param tls which workers are trusted on https, and how the scheduler shows itself; null for the
   *     JVM's defaults
   */
  public WorkerHttpClient(
      Duration connectTimeout, CallbackTargets targets, @Nullable SslBundle tls) {
    this.targets = targets;
    this.client =
        HttpClientBuilder.create()
            .setConnectionManager(connections(connectTimeout, targets, tls))
            .setRequestExecutor(new LastMoment())
            .setDefaultRequestConfig(
                RequestConfig.custom()
                    .setResponseTimeout(Timeout.DISABLED)
                    .setProtocolUpgradeEnabled(false)
                    .setAuthenticationEnabled(false)
                    .build())
            .disableRedirectHandling()
            .disableAutomaticRetries()
            .disableCookieManagement()
            .disableAuthCaching()
            .disableContentCompression()
            .disableConnectionState()
            .disableDefaultUserAgent()
            .evictExpiredConnections()
            .evictIdleConnections(IDLE)
            .build();
  }

  private static PoolingHttpClientConnectionManager connections(
      Duration connectTimeout, CallbackTargets targets, @Nullable SslBundle tls) {
    Http1Config config =
        Http1Config.custom()
            .setBufferSize(BUFFER)
            .setMaxLineLength(MAX_HEAD_LINE)
            .setMaxHeaderCount(MAX_HEADERS)
            .build();
    var writers = new DefaultHttpRequestWriterFactory(config);
    var parsers =
        new DefaultHttpResponseParserFactory(
            config, new StrictStatusLines(), new DefaultClassicHttpResponseFactory());
    return new Pool()
        .setConnectionFactory(socket -> new WorkerConnection(config, writers, parsers))
        .setDnsResolver(new AllowedAddresses(targets))
        .setTlsSocketStrategy(tls(tls))
        .setDefaultTlsConfig(TlsConfig.custom().setHandshakeTimeout(Timeout.of(HANDSHAKE)).build())
        .setDefaultConnectionConfig(
            ConnectionConfig.custom()
                .setConnectTimeout(Timeout.of(connectTimeout))
                .setSocketTimeout(Timeout.DISABLED)
                // Looked at for each request, by LastMoment.
                .setValidateAfterInactivity(TimeValue.NEG_ONE_MILLISECOND)
                .build())
        // As many as an instance may have jobs; what one is sent is bounded elsewhere.
        .setMaxConnPerRoute(Integer.MAX_VALUE)
        .setMaxConnTotal(Integer.MAX_VALUE)
        .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.LAX)
        .setConnPoolPolicy(PoolReusePolicy.LIFO)
        .build();
  }

  private static TlsSocketStrategy tls(@Nullable SslBundle bundle) {
    ClientTlsStrategyBuilder builder =
        ClientTlsStrategyBuilder.create()
            .setHostVerificationPolicy(HostnameVerificationPolicy.BUILTIN);
    if (bundle != null) {
      builder.setSslContext(bundle.createSslContext());
      if (bundle.getOptions().getCiphers() != null) {
        builder.setCiphers(bundle.getOptions().getCiphers());
      }
      if (bundle.getOptions().getEnabledProtocols() != null) {
        builder.setTlsVersions(bundle.getOptions().getEnabledProtocols());
      }
    }
    return builder.buildClassic();
  }

  /**
   * Prepares a call.
   *
   * @param maySend asked at the last moment, when there is a connection and before a byte of the
   *     request leaves; a false ends the call as not sent
   */
  Exchange exchange(HttpUriRequestBase request, BooleanSupplier maySend) {
    return new Exchange(client, request, maySend);
  }

  /**
   * Returns whether the server behind an http address speaks TLS. Sends only a TLS handshake.
   * Blocks for a few seconds at most.
   */
  boolean speaksTls(URI callback) {
    if (!"http".equals(callback.getScheme())) {
      return false;
    }
    try (SSLSocket socket = (SSLSocket) SSLSocketFactory.getDefault().createSocket()) {
      InetAddress address = targets.resolve(callback.getHost())[0];
      socket.connect(new InetSocketAddress(address, callback.getPort()), TLS_PATIENCE_MS);
      socket.setSoTimeout(TLS_PATIENCE_MS);
      socket.startHandshake();
      return true;
    } catch (SSLHandshakeException e) {
      // A certificate that is not trusted, or a server that asks for ours: that is TLS, too.
      return !(e.getCause() instanceof EOFException);
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    client.close(CloseMode.IMMEDIATE);
  }

  /** A pool of connections over channels, which tell without waiting that they were closed. */
  private static final class Pool extends PoolingHttpClientConnectionManagerBuilder {

    @Override
    protected HttpClientConnectionOperator createConnectionOperator(
        @Nullable SchemePortResolver ports, DnsResolver names, TlsSocketStrategy tls) {
      return new DefaultHttpClientConnectionOperator(
          proxy -> socket(),
          ports == null ? DefaultSchemePortResolver.INSTANCE : ports,
          names,
          RegistryBuilder.<TlsSocketStrategy>create().register(URIScheme.HTTPS.id, tls).build());
    }

    private static Socket socket() throws IOException {
      return SocketChannel.open().socket();
    }
  }

  /**
   * Resolves a host to the addresses that may be called: those that are looked at are connected.
   */
  private record AllowedAddresses(CallbackTargets targets) implements DnsResolver {

    @Override
    public InetAddress[] resolve(String host) throws UnknownHostException {
      return targets.resolve(host);
    }

    @Override
    public String resolveCanonicalHostname(String host) {
      return host;
    }
  }

  /** Takes a status line for one only if it is one: a status has three digits, and no more. */
  private static final class StrictStatusLines extends BasicLineParser {

    private static final Pattern LINE = Pattern.compile("HTTP/1\\.[01] [1-9][0-9]{2}(?: .*)?");

    @Override
    public StatusLine parseStatusLine(CharArrayBuffer line) throws ParseException {
      if (!LINE.matcher(line).matches()) {
        throw new ParseException("no status line of HTTP/1.1");
      }
      return super.parseStatusLine(line);
    }
  }

  /** Decides, with a connection in hand, whether the request is sent on it. */
  private static final class LastMoment extends HttpRequestExecutor {

    @Override
    public ClassicHttpResponse execute(
        ClassicHttpRequest request,
        HttpClientConnection connection,
        @Nullable HttpResponseInformationCallback information,
        HttpContext context)
        throws IOException, HttpException {
      Exchange.of(context).beforeSending(connection);
      int[] interim = {0};
      return super.execute(
          request,
          connection,
          (response, open, unused) -> {
            if (++interim[0] > MAX_INTERIM_ANSWERS) {
              throw new ProtocolException("more than " + MAX_INTERIM_ANSWERS + " interim answers");
            }
          },
          context);
    }
  }
}
