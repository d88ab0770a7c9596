/** Where changes are once they are answered, and what the store was seen to have lost. */
@NullMarked
package io.punctual.core.store.durability;

import org.jspecify.annotations.NullMarked;
