package gitread

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packed looks for an object in the packs of the clone. depth counts the deltas
// that led here.
func (c Clone) packed(ctx context.Context, sum string, depth int) (string, []byte, error) {
	dir := filepath.Join(c.common, "objects", "pack")
	indexes, err := filepath.Glob(filepath.Join(dir, "pack-*.idx"))
	if err != nil {
		return "", nil, err
	}
	name, err := hex.DecodeString(sum)
	if err != nil {
		return "", nil, err
	}
	slices.Sort(indexes)
	for _, index := range indexes {
		if ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		at, found, err := offsetOf(index, name)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", filepath.Base(index), err)
		}
		if !found {
			continue
		}
		f, err := openFile(strings.TrimSuffix(index, ".idx") + ".pack")
		if err != nil {
			return "", nil, err
		}
		kind, body, err := c.unpack(ctx, f, at, depth)
		return kind, body, errors.Join(err, f.Close())
	}
	if _, err := os.Stat(filepath.Join(c.common, "objects", "info", "alternates")); err == nil {
		return "", nil, fmt.Errorf("%w %s: the clone borrows objects from another one, which is not read here", errNoObject, sum)
	}
	return "", nil, fmt.Errorf("%w %s: it is shallow or partial, or the name is wrong", errNoObject, sum)
}

// offsetOf looks an object up in the index of a pack.
func offsetOf(index string, name []byte) (at int64, found bool, err error) {
	f, err := openFile(index)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	const head, fan = 8, 256 * 4
	var b [head + fan]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return 0, false, fmt.Errorf("the index breaks off: %w", err)
	}
	if string(b[:4]) != "\xfftOc" || binary.BigEndian.Uint32(b[4:]) != 2 {
		return 0, false, errors.New("the index has a form that is not known here")
	}
	bucket := func(i int) int64 { return int64(binary.BigEndian.Uint32(b[head+4*i:])) }
	low, high, count := int64(0), bucket(int(name[0])), bucket(255)
	if name[0] > 0 {
		low = bucket(int(name[0]) - 1)
	}
	if low > high || high > count {
		return 0, false, errors.New("the index is damaged")
	}
	var row [20]byte
	for low < high {
		mid := (low + high) / 2
		if _, err := f.ReadAt(row[:], head+fan+20*mid); err != nil {
			return 0, false, fmt.Errorf("the index breaks off: %w", err)
		}
		switch bytes.Compare(name, row[:]) {
		case -1:
			high = mid
		case 1:
			low = mid + 1
		default:
			at, err := offsetAt(f, head+fan+24*count, mid, count)
			return at, err == nil, err
		}
	}
	return 0, false, nil
}

// offsetAt reads the place of an object out of the table at from; a place beyond
// two gigabytes stands in a second table.
func offsetAt(f io.ReaderAt, from, row, count int64) (int64, error) {
	var b [8]byte
	if _, err := f.ReadAt(b[:4], from+4*row); err != nil {
		return 0, fmt.Errorf("the index breaks off: %w", err)
	}
	at := binary.BigEndian.Uint32(b[:4])
	if at>>31 == 0 {
		return int64(at), nil
	}
	if _, err := f.ReadAt(b[:], from+4*count+8*int64(at&^(1<<31))); err != nil {
		return 0, fmt.Errorf("the index breaks off: %w", err)
	}
	far := int64(binary.BigEndian.Uint64(b[:]))
	if far < 0 {
		return 0, errors.New("the index is damaged")
	}
	return far, nil
}

// Kinds of objects in a pack.
const (
	packOffset = 6 // a delta to an object of the same pack
	packNamed  = 7 // a delta to an object by name
)

// unpack reads the object at a place of a pack, through its deltas.
func (c Clone) unpack(ctx context.Context, f *os.File, at int64, depth int) (string, []byte, error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	if depth > deltaDepth {
		return "", nil, fmt.Errorf("an object hangs on more than %d deltas", deltaDepth)
	}
	var head [64]byte
	n, err := f.ReadAt(head[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	b := head[:n]
	if len(b) == 0 {
		return "", nil, errors.New("the pack breaks off")
	}
	kind, size, used := int(b[0]>>4&7), int64(b[0]&15), 1
	for shift := 4; b[used-1]&0x80 != 0; shift += 7 {
		if used == len(b) || shift > 50 {
			return "", nil, errors.New("the pack is damaged")
		}
		size |= int64(b[used]&0x7f) << shift
		used++
	}
	if size > objectSize {
		return "", nil, fmt.Errorf("an object has %d bytes, more than are read here", size)
	}
	var base func() (string, []byte, error)
	switch kind {
	case packOffset:
		back, n := distance(b[used:])
		if n == 0 || back <= 0 || back > at {
			return "", nil, errors.New("the pack is damaged")
		}
		used += n
		base = func() (string, []byte, error) { return c.unpack(ctx, f, at-back, depth+1) }
	case packNamed:
		if len(b) < used+20 {
			return "", nil, errors.New("the pack breaks off")
		}
		sum := hex.EncodeToString(b[used : used+20])
		used += 20
		base = func() (string, []byte, error) {
			if kind, body, err := c.loose(sum); err == nil {
				return kind, body, nil
			}
			return c.packed(ctx, sum, depth+1)
		}
	}
	body, err := inflate(io.NewSectionReader(f, at+int64(used), 1<<40), objectSize)
	if err != nil {
		return "", nil, fmt.Errorf("the pack is damaged: %w", err)
	}
	if int64(len(body)) != size {
		return "", nil, errors.New("the pack is damaged: an object has another size")
	}
	if base == nil {
		names := map[int]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}
		if names[kind] == "" {
			return "", nil, fmt.Errorf("the pack has an object of kind %d", kind)
		}
		return names[kind], body, nil
	}
	name, from, err := base()
	if err != nil {
		return "", nil, err
	}
	body, err = patch(from, body)
	return name, body, err
}

// distance is how far before an object its base stands.
func distance(b []byte) (back int64, used int) {
	for i, c := range b {
		if i > 8 {
			return 0, 0
		}
		if i > 0 {
			back++
		}
		back = back<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return back, i + 1
		}
	}
	return 0, 0
}

var errDelta = errors.New("a delta of the pack is damaged")

// patch applies a delta.
func patch(from, delta []byte) ([]byte, error) {
	size, delta, ok := length(delta)
	if !ok || size != len(from) {
		return nil, errDelta
	}
	want, delta, ok := length(delta)
	if !ok || want > objectSize {
		return nil, errDelta
	}
	out := make([]byte, 0, want)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			n := int(op)
			if n == 0 || n > len(delta) || len(out)+n > want {
				return nil, errDelta
			}
			out, delta = append(out, delta[:n]...), delta[n:]
			continue
		}
		var at, n int
		for i := range 7 {
			if op>>i&1 == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errDelta
			}
			if i < 4 {
				at |= int(delta[0]) << (8 * i)
			} else {
				n |= int(delta[0]) << (8 * (i - 4))
			}
			delta = delta[1:]
		}
		if n == 0 {
			n = 0x10000
		}
		if at < 0 || at > len(from) || n > len(from)-at || len(out)+n > want {
			return nil, errDelta
		}
		out = append(out, from[at:at+n]...)
	}
	if len(out) != want {
		return nil, errDelta
	}
	return out, nil
}

// length reads one of the sizes at the head of a delta.
func length(b []byte) (n int, rest []byte, ok bool) {
	for i, c := range b {
		if i > 4 {
			return 0, nil, false
		}
		n |= int(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
