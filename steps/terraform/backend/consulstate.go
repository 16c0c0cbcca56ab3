package backend

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/md5" // it is the digest that the backend keeps
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"handrail/steps"
)

// consulValue bounds one value; consul itself takes half a megabyte as it comes.
const consulValue = 16 << 20

// consulChunks is what stands under the key of a state that one value cannot
// hold.
type consulChunks struct {
	Hash   string   `json:"current-hash"`
	Chunks []string `json:"chunks"`
}

// parseConsulChunks reports whether a value is a list of chunks. Chunks lie
// below the key of the state: any other would be a key that was not asked for.
func parseConsulChunks(raw []byte, path string) (list consulChunks, chunked bool, err error) {
	if json.Unmarshal(raw, &list) != nil || list.Hash == "" {
		return consulChunks{}, false, nil
	}
	for _, key := range list.Chunks {
		if !strings.HasPrefix(key, strings.TrimRight(path, "/")+"/tfstate.") {
			return consulChunks{}, true, fmt.Errorf("the state names %q as a part of it, which does not lie below its key", steps.Clip(key, 200))
		}
	}
	return list, true, nil
}

// tornError says that the parts of a state do not make one, so that no program can open it.
type tornError struct{ say string }

func (e *tornError) Error() string { return e.say }

func torn(format string, args ...any) error { return &tornError{fmt.Sprintf(format, args...)} }

func (c *consulStore) State(ctx context.Context) (State, error) {
	r := State{Where: c.where()}
	raw, index, err := c.value(ctx)
	if errors.Is(err, errAbsent) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("state: %w", err)
	}
	r.Exists, r.Version = true, index
	first, err := c.plain(ctx, raw)
	if err == nil && c.inParts(raw) {
		if err = readThrough(first); err == nil {
			first, err = c.plain(ctx, raw)
		}
	}
	var broken *tornError
	switch {
	case errors.As(err, &broken):
		// A run that writes takes the old parts away after it has named the new ones.
		if _, again, err := c.value(ctx); err != nil || again != index {
			return r, errors.Join(errors.New("state: it changed while it was read: read it again, a writer is alive"), err)
		}
		r.Broken, r.Stored = broken.say, raw
		return r, nil
	case err != nil:
		return r, fmt.Errorf("state: %w", err)
	}
	r.Body = newStateReader(ctx, first, func(ctx context.Context) (io.ReadCloser, error) {
		again, _, err := c.value(ctx)
		if err != nil {
			return nil, err
		}
		return c.plain(ctx, again)
	})
	return r, nil
}

// inParts reports whether a value is more than a state as it stands.
func (c *consulStore) inParts(raw []byte) bool {
	_, chunked, _ := parseConsulChunks(raw, c.path)
	return chunked || len(raw) > 0 && raw[0] == packedFirst
}

// readThrough reads a state to its end, and says whether its parts make one.
func readThrough(body io.ReadCloser) error {
	_, err := io.Copy(io.Discard, body)
	return errors.Join(err, body.Close())
}

// value reads what stands under the key of the state; index is the number of the last write. A key
// without a value is no absent state: every program ends in "no state" there.
func (c *consulStore) value(ctx context.Context) (raw []byte, index string, err error) {
	resp, err := c.ask(ctx, "/v1/kv/"+c.path, true)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if raw, err = limited(resp.Body, c.path); err != nil {
		return nil, "", err
	}
	if n, err := strconv.ParseUint(resp.Header.Get("X-Consul-Index"), 10, 64); err == nil {
		index = strconv.FormatUint(n, 10)
	}
	return raw, index, nil
}

// limited reads one value, and closes it.
func limited(body io.Reader, key string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, consulValue+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > consulValue {
		return nil, fmt.Errorf("the value of %s is over %d bytes", steps.Clip(key, 200), consulValue)
	}
	return raw, nil
}

// plain goes on from a value to its parts, and unpacks what is packed.
func (c *consulStore) plain(ctx context.Context, raw []byte) (io.ReadCloser, error) {
	list, chunked, err := parseConsulChunks(raw, c.path)
	if err != nil {
		return nil, err
	}
	var packed io.ReadCloser = io.NopCloser(bytes.NewReader(raw))
	if chunked {
		packed = &consulBody{ctx: ctx, c: c, left: list.Chunks}
	}
	plain, err := unpacked(packed)
	if err != nil {
		return nil, err
	}
	if chunked {
		plain = &digestReader{ReadCloser: plain, sum: md5.New(), want: list.Hash}
	}
	return plain, nil
}

// packedFirst is the first byte of what is packed.
const packedFirst = 0x1f

// unpacked unpacks what begins as gzip does. What is packed is bounded: a few
// values can hold a bomb.
func unpacked(r io.ReadCloser) (io.ReadCloser, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) == 0 || head[0] != packedFirst {
		return bothOf{b, r}, nil
	}
	zr, err := gzip.NewReader(b)
	if err != nil {
		return nil, unpacking(err)
	}
	return bothOf{&boundedReader{r: zr, left: maxState}, r}, nil
}

// unpacking tells what does not unpack from what could not be fetched.
func unpacking(err error) error {
	var flaw flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &flaw) {
		return torn("the state does not unpack: %v", err)
	}
	return err
}

// bothOf reads from one and closes another.
type bothOf struct {
	io.Reader
	io.Closer
}

// boundedReader fails where io.LimitReader would end.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (l *boundedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("the state unpacks to more than %d bytes", maxState)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = unpacking(err)
	}
	return n, err
}

// digestReader holds what was read against the digest that stands beside it.
type digestReader struct {
	io.ReadCloser
	sum  hash.Hash
	want string
}

func (d *digestReader) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(d.sum.Sum(nil)) != d.want {
		return n, torn("the parts of the state do not make up the digest %s that stands beside them: a writer is at work, or the state is torn; every run ends in \"does not match the expected hash\"", steps.Clip(d.want, 40))
	}
	return n, err
}

// consulBody reads one chunk after the other.
type consulBody struct {
	ctx  context.Context
	c    *consulStore
	left []string
	now  io.ReadCloser // of the body of a response
}

func (b *consulBody) Read(p []byte) (int, error) {
	for {
		if b.now == nil {
			if len(b.left) == 0 {
				return 0, io.EOF
			}
			part, err := b.part(b.left[0])
			if err != nil {
				return 0, err
			}
			b.now, b.left = part, b.left[1:]
		}
		n, err := b.now.Read(p)
		if errors.Is(err, io.EOF) {
			err = b.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (b *consulBody) part(key string) (io.ReadCloser, error) {
	resp, err := b.c.ask(b.ctx, "/v1/kv/"+key, true)
	if errors.Is(err, errAbsent) {
		err = torn("the part %s of the state is gone", steps.Clip(key, 200))
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := limited(resp.Body, key)
	return io.NopCloser(bytes.NewReader(raw)), err
}

func (b *consulBody) Close() error {
	if b.now == nil {
		return nil
	}
	err := b.now.Close()
	b.now = nil
	return err
}
