/** The application's database, for outbox and once. */
@NullMarked
package io.punctual.spring.jdbc;

import org.jspecify.annotations.NullMarked;
