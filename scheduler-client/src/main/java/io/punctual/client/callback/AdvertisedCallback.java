package io.punctual.client.callback;

import java.net.URI;

/**
 * The callback that this instance advertises to schedulers.
 *
 * @param instance its id, which no other instance of the application has
 * @param address where it is called: the address, as schedulers put it together
 */
public record AdvertisedCallback(String instance, URI address) {}
