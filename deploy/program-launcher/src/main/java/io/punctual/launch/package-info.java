/** Checks what a program needs before it starts. Goes into the jar of each program. */
package io.punctual.launch;
