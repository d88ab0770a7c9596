/** Notices that the store is away, damaged, emptied or older, and reports it. */
@NullMarked
package io.punctual.core.recovery;

import org.jspecify.annotations.NullMarked;
