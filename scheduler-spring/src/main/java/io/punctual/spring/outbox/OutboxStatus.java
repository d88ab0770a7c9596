package io.punctual.spring.outbox;

import java.time.Duration;

/**
 * The calls of this application that the outbox holds.
 *
 * @param waiting calls to be made, those included that are being made
 * @param age how long the oldest of them has been there
 * @param refused calls that can never be made, kept for people
 */
public record OutboxStatus(long waiting, Duration age, long refused) {}
