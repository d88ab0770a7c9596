/**
 * The messages that scheduler and applications exchange: plain records, one JSON object each. They
 * know no JSON library; field names are record component names. How they are signed, what they may
 * hold at most, and how durations are written.
 */
@NullMarked
package io.punctual.wire;

import org.jspecify.annotations.NullMarked;
