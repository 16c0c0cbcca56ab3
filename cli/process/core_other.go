//go:build !unix

package process

func NoCore() {}
