/**
 * The messages that scheduler and applications exchange: plain records, one JSON object each. They
 * know no JSON library; field names are record component names. And how they are signed.
 */
@NullMarked
package io.punctual.wire;

import org.jspecify.annotations.NullMarked;
