/** Work that is done again and again, and reads that all who ask share. */
@NullMarked
package io.punctual.server.work;

import org.jspecify.annotations.NullMarked;
