/** Who may do what: credentials, and the rules that calls are held to. */
@NullMarked
package io.punctual.server.security;

import org.jspecify.annotations.NullMarked;
