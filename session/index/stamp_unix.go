//go:build unix

package index

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// appendMark adds what tells one state of a file from another. The change time
// cannot be set by hand, so an edit that puts size and date back still shows.
func appendMark(dst []byte, name string) ([]byte, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return dst, false
	}
	dst = binary.AppendUvarint(dst, uint64(st.Ino))
	dst = binary.AppendVarint(dst, int64(st.Size))
	dst = binary.AppendVarint(dst, st.Mtim.Nano())
	return binary.AppendVarint(dst, st.Ctim.Nano()), true
}
