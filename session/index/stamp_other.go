//go:build !unix

package index

import (
	"encoding/binary"
	"os"
)

// appendMark adds what tells one state of a file from another.
func appendMark(dst []byte, name string) ([]byte, bool) {
	info, err := os.Lstat(name)
	if err != nil {
		return dst, false
	}
	dst = binary.AppendVarint(dst, info.Size())
	return binary.AppendVarint(dst, info.ModTime().UnixNano()), true
}
