/** The rules for a submit whose id exists already: replace, debounce, wait for the end. */
@NullMarked
package io.punctual.conflict;

import org.jspecify.annotations.NullMarked;
