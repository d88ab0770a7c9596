/** Work that is done again and again. */
@NullMarked
package io.punctual.server.work;

import org.jspecify.annotations.NullMarked;
