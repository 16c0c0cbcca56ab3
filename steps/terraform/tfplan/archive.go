package tfplan

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What ends a ZIP, and what stands before it in one of more than 4 GB.
var (
	zipEnd   = []byte("PK\x05\x06")
	zipLarge = []byte("PK\x06\x07")
)

const (
	zipEndLen   = 22
	zipLargeLen = 20
	zipTail     = zipEndLen + 1<<16 // with the longest comment
)

// openArchive opens a ZIP that says it has as many parts as a plan can have. A
// library makes room for all that an archive claims before it looks at one.
func openArchive(r io.ReaderAt, size int64) (*zip.Reader, error) {
	tail := make([]byte, min(size, zipTail))
	if n, err := r.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return nil, err
	}
	i := bytes.LastIndex(tail, zipEnd)
	if i < 0 || len(tail)-i < zipEndLen {
		return nil, zip.ErrFormat
	}
	if n := binary.LittleEndian.Uint16(tail[i+10:]); n > maxEntries {
		return nil, fmt.Errorf("it has %d parts or more", n)
	}
	if i >= zipLargeLen && bytes.HasPrefix(tail[i-zipLargeLen:], zipLarge) {
		return nil, errors.New("it is an archive of the large form, which no plan is")
	}
	first := &allowance{r: r, left: maxIndex + zipTail}
	z, err := zip.NewReader(first, size)
	first.left = -1
	return z, err
}

// allowance lets so many bytes be read of an archive while it is opened, and any
// number from then on.
type allowance struct {
	r    io.ReaderAt
	left int // -1 for any
}

var errIndex = errors.New("the list of its parts is too large")

func (a *allowance) ReadAt(p []byte, at int64) (int, error) {
	if a.left >= 0 {
		if a.left -= len(p); a.left < 0 {
			a.left = 0
			return 0, errIndex
		}
	}
	return a.r.ReadAt(p, at)
}
