package io.punctual.core.store;

/** The right to speak for one attempt. Unguessable; one for all jobs of a claim. */
public record LeaseToken(String value) {}
