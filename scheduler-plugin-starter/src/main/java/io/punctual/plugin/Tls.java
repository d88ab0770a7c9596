package io.punctual.plugin;

import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;

/**
 * How a connection that is encrypted trusts the other side.
 *
 * @param bundle the application's; null for what the JVM trusts
 */
record Tls(@Nullable SslBundle bundle) {

  void apply(JedisClientConfiguration.JedisSslClientConfigurationBuilder ssl) {
    SSLParameters parameters = new SSLParameters();
    // The certificate must be that of the host; Jedis by itself would take any trusted one.
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    if (bundle != null) {
      ssl.sslSocketFactory(bundle.createSslContext().getSocketFactory());
      SslOptions options = bundle.getOptions();
      if (options.getCiphers() != null) {
        parameters.setCipherSuites(options.getCiphers());
      }
      if (options.getEnabledProtocols() != null) {
        parameters.setProtocols(options.getEnabledProtocols());
      }
    }
    ssl.sslParameters(parameters);
  }
}
