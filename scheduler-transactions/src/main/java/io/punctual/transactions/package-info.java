/** What an application's database has to do with its jobs. */
@NullMarked
package io.punctual.transactions;

import org.jspecify.annotations.NullMarked;
