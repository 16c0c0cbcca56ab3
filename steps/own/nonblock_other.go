//go:build !unix

package own

const nonBlocking = 0
