package io.punctual.client.autoconfigure;

import java.net.URI;

/** Base addresses in the form to which paths are added. */
final class SchedulerAddresses {

  private SchedulerAddresses() {}

  static URI withoutSlash(URI uri) {
    String text = uri.toString();
    return text.endsWith("/") ? URI.create(text.substring(0, text.length() - 1)) : uri;
  }
}
