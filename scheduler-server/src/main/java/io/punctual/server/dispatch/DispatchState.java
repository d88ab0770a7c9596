package io.punctual.server.dispatch;

/**
 * The jobs, instances and bytes that a dispatcher holds in memory.
 *
 * @param inFlight jobs that are with an instance
 * @param waiting jobs that wait until they are alone at an instance
 * @param instances instances for which it keeps a state
 * @param hanging the number of these that do not answer
 * @param answerBytes bytes of answers that are being read
 */
public record DispatchState(
    int inFlight, int waiting, int instances, int hanging, long answerBytes) {}
