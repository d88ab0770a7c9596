package io.punctual.example.modulith;

import org.springframework.modulith.events.Externalized;

/** Becomes a job that closes the order after half an hour. */
@Externalized("punctual:order.close?delay=30m::#{id}")
public record OrderPlaced(String id, long amount) {}
