//go:build !unix

package cli

func noCore() {}
