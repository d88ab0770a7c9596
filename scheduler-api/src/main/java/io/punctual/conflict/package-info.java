/** What a submit does if a job of its id is there: replace, debounce, wait for its end. */
@NullMarked
package io.punctual.conflict;

import org.jspecify.annotations.NullMarked;
