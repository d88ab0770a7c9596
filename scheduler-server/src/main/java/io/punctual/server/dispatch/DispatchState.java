package io.punctual.server.dispatch;

/**
 * What a dispatcher holds in memory.
 *
 * @param inFlight jobs that are with an instance
 * @param waiting jobs that wait until they are alone at an instance
 * @param instances instances that it knows something of
 * @param hanging how many of them hang
 * @param answerBytes bytes of answers that are being read
 */
public record DispatchState(
    int inFlight, int waiting, int instances, int hanging, long answerBytes) {}
