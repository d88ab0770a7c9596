package io.punctual.core.store;

/**
 * What tells one state of the store from another.
 *
 * @param now the store's time, epoch ms
 * @param begun the store's time when the mark was made, epoch ms; {@code now} if just so
 * @param id made when the first engine met an empty store; another one means that the store was
 *     emptied or is another one
 * @param sequence grows with each look of any engine; a lower one than before means that an older
 *     state came back
 * @param looked the store's time of the look before, of any engine, as the store remembers it,
 *     epoch ms; 0 if there was none
 */
public record Epoch(long now, long begun, String id, long sequence, long looked) {}
