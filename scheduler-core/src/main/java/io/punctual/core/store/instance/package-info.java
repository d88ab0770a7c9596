/** What schedulers on one store tell each other about worker instances. */
@NullMarked
package io.punctual.core.store.instance;

import org.jspecify.annotations.NullMarked;
