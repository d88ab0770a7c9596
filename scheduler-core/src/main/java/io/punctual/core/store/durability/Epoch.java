package io.punctual.core.store.durability;

/**
 * Identifies one state of a Redis server.
 *
 * @param mark names the mark: empty for that of the store, else that of another node of a cluster
 * @param node host and port of the server, for people; empty where there is one server alone
 * @param now the store's time, epoch ms
 * @param begun the store's time when the mark was made, epoch ms; {@code now} if just so
 * @param id made when the first engine met an empty server; another one means that the server was
 *     emptied or is another one
 * @param sequence grows with each look of any engine; a lower one than before means that an older
 *     state came back
 * @param looked the store's time of the look before, of any engine, as the store remembers it,
 *     epoch ms; 0 if there was none
 */
public record Epoch(
    String mark, String node, long now, long begun, String id, long sequence, long looked) {}
