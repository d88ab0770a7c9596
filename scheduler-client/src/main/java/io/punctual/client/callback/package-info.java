/** Takes jobs from schedulers that call the application, behind any web server. */
@NullMarked
package io.punctual.client.callback;

import org.jspecify.annotations.NullMarked;
