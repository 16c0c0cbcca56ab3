package gitread

import (
	"io/fs"
	"syscall"
)

// stampOf is what the index has of the times of a file.
func stampOf(info fs.FileInfo) (stamp, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{
		written: [2]uint32{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)},
		changed: [2]uint32{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)},
	}, true
}
