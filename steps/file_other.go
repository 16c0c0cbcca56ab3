//go:build !unix

package steps

// Nonblock is a flag of systems that open a pipe by waiting.
const Nonblock = 0
