package io.punctual.core.engine;

import java.util.List;

/**
 * The scanners of an engine.
 *
 * @param running how many are at work
 * @param ended the buckets whose scanner has ended although nobody stopped it: their jobs wait for
 *     another engine
 */
public record ScannerHealth(int running, List<String> ended) {}
