/** What programs and starters share to check their configuration. */
@NullMarked
package io.punctual.config;

import org.jspecify.annotations.NullMarked;
