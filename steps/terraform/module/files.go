package module

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// MaxSmall bounds files that are small by nature: backend settings, lock info.
const MaxSmall = 1 << 20

// ReadSmall reads a regular file of at most MaxSmall bytes. It never blocks on
// a pipe in its place.
func ReadSmall(name string) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxSmall+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > MaxSmall {
		return nil, fmt.Errorf("%s is over %d bytes", name, MaxSmall)
	}
	return b, nil
}

// OpenRegular opens a regular file and nothing else: it never waits for a pipe.
func OpenRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Until reads r until ctx ends.
func Until(ctx context.Context, r io.Reader) io.Reader { return ctxReader{ctx, r} }

type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// UntilSeeker reads r until ctx ends.
func UntilSeeker(ctx context.Context, r io.ReadSeeker) io.ReadSeeker {
	return struct {
		io.Reader
		io.Seeker
	}{Until(ctx, r), r}
}

// IsConfig reports whether a file name is one of a configuration.
func IsConfig(name string) bool {
	name = strings.TrimSuffix(name, ".json")
	return strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tofu")
}
