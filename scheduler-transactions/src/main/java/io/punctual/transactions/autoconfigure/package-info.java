/** Makes the beans. */
@NullMarked
package io.punctual.transactions.autoconfigure;

import org.jspecify.annotations.NullMarked;
