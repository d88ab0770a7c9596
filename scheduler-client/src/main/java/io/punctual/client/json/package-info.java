/** JSON, behind a port: Jackson 3, Jackson 2, or another library. */
@NullMarked
package io.punctual.client.json;

import org.jspecify.annotations.NullMarked;
