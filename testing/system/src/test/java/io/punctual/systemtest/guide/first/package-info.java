/**
 * The application of the first job; in a package by itself, so that it finds no other components.
 */
@NullMarked
package io.punctual.systemtest.guide.first;

import org.jspecify.annotations.NullMarked;
