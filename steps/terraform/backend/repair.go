package backend

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/transport"
)

// Repairer is a store that can put a state in the place of what no program can
// read: `state push` refuses to write over that, with -force too.
type Repairer interface {
	// Repair says how it would be done and sends nothing. Where what was found is
	// whole, only what the backend keeps beside it is mended.
	Repair(ctx context.Context, w module.Workdir, now Found, content []byte, out steps.Sink) (Repair, error)
}

// Found is what is stored where a state should be.
type Found struct {
	Raw    []byte
	Broken bool // no program reads it
}

// Repair is one write that was thought through.
type Repair struct {
	Request string // as it is shown
	Command string // as a person would do it
	Keeps   bool   // it leaves a copy of what it replaces
	Do      func(context.Context) (said string, err error)
}

// way opens a client of the server that a backend is on, behind the guard that it is given.
type way func(guardOf) (*fetcher, error)

// send sends one request that was worked out before, once, and nothing else.
func (open way) send(ctx context.Context, method, address string, header http.Header, body []byte) (status int, said []byte, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, nil, err
	}
	path := cmp.Or(u.Path, "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	f, err := open(func(next http.RoundTripper, server string, opts ...transport.Option) http.RoundTripper {
		return transport.Store(next, server, []transport.Request{{Method: method, Path: path, SHA256: transport.Sum(body)}}, opts...)
	})
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	maps.Copy(req.Header, header)
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, nil, unreachable(ctx, f.server(), err)
	}
	said, err = small(resp)
	return resp.StatusCode, said, err
}

// still reads what stands where the state should be, and says whether it is what was found.
func still(body io.Reader, now Found) error {
	raw, err := io.ReadAll(io.LimitReader(body, MaxHeld+1))
	if err == nil && !bytes.Equal(raw, now.Raw) {
		err = errors.New("it was written while it was read")
	}
	return err
}

// errWhole says that there is nothing to put in the place of.
var errWhole = errors.New("what is stored there can be read")

func sumOfBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Repair implements Repairer: under the lock that the programs take, after a copy
// of what is there.
func (l *local) Repair(_ context.Context, _ module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	if !now.Broken || now.Raw == nil {
		return Repair{}, errors.New("its bytes cannot be read: " + l.path)
	}
	kept := fmt.Sprintf("%s.%s.broken", l.path, sumOfBytes(now.Raw)[:8])
	return Repair{
		Request: fmt.Sprintf("copy %s to %s and write %d bytes in its place (SHA-256 %s), under its lock", l.path, kept, len(content), sumOfBytes(content)),
		Command: fmt.Sprintf("cp -p %s %s && : > %s", steps.Quote(l.path), steps.Quote(kept), steps.Quote(l.path)),
		Keeps:   true,
		Do:      func(context.Context) (string, error) { return l.replace(kept, now.Raw, content) },
	}, nil
}

// replace writes in place, as the programs do: another file under the same name
// would have another lock.
func (l *local) replace(kept string, was, content []byte) (string, error) {
	f, err := os.OpenFile(l.path, os.O_RDWR|steps.Nonblock, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := module.WriteLock(f); err != nil {
		return "", fmt.Errorf("the lock on %s: %w; another process took it", l.path, err)
	}
	now, err := io.ReadAll(io.LimitReader(f, MaxHeld+1))
	if err == nil && !bytes.Equal(now, was) {
		err = errors.New("it was written meanwhile")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.path, err)
	}
	if err := keepCopy(kept, was); err != nil {
		return "", fmt.Errorf("copy of what is broken: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return "", err
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return fmt.Sprintf("The broken state is kept as %s, SHA-256 %s.", kept, sumOfBytes(was)), nil
}

// keepCopy writes a file that only its owner can read. One that is there with
// the same content will do.
func keepCopy(name string, raw []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if old, readErr := os.ReadFile(name); readErr == nil && bytes.Equal(old, raw) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// MaxHeld bounds the state that a gate takes into its hands: it is held in
// memory, as what the act is undone from.
const MaxHeld = 128 << 20
