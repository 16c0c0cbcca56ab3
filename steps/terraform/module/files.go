package module

import (
	"context"
	"handrail/steps"
	"io"
	"strings"
)

// MaxSmall bounds files that are small by nature: backend settings, lock info.
const MaxSmall = 1 << 20

// ReadSmall reads a regular file of at most MaxSmall bytes.
func ReadSmall(name string) ([]byte, error) { return steps.ReadFile(name, MaxSmall) }

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
