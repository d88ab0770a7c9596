package io.punctual.server.dispatch.callback;

import java.net.UnknownHostException;

/** The host has an address that the scheduler does not call. */
final class AddressNotAllowedException extends UnknownHostException {

  private static final long serialVersionUID = 1L;

  private final String reason;

  AddressNotAllowedException(String reason) {
    super(reason);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}
