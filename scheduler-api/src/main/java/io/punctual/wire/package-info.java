/**
 * The messages that scheduler and applications exchange: plain records, one JSON object each. They
 * hold no logic and know no JSON library; field names are record component names.
 */
@NullMarked
package io.punctual.wire;

import org.jspecify.annotations.NullMarked;
