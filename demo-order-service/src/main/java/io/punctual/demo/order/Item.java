package io.punctual.demo.order;

/**
 * Something on sale.
 *
 * @param cents its price
 * @param available how many may still be ordered
 */
record Item(String name, int cents, int available) {}
