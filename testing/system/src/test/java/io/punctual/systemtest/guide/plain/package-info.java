/** A shop without any framework, for docs/client.md. */
@NullMarked
package io.punctual.systemtest.guide.plain;

import org.jspecify.annotations.NullMarked;
