/** Jobs for workers that fetch them. */
@NullMarked
package io.punctual.core.pull;

import org.jspecify.annotations.NullMarked;
