package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path/filepath"
	"strings"
	"time"

	"handrail/evidence/disk"
	"handrail/evidence/sig"
)

// ErrStamp: a reply is no time stamp that a bundle can keep.
var ErrStamp = errors.New("not a time stamp of this bundle")

// Timestamp is the word of an authority that a seal existed before a moment.
type Timestamp struct {
	File   string    // inside the bundle
	Before time.Time // the latest moment that it can mean
	By     string    // who signed it, by its own certificate
	There  bool      // the seal had one already, and it was left
}

// TimestampQuery returns the request for a time stamp of the newest seal of a bundle, in DER. It recomputes the whole
// bundle first and asks nothing for one that does not verify. A nonce, where there is one, must come back in the reply;
// without one an earlier reply about the same seal is as good.
func TimestampQuery(path string, nonce *big.Int) ([]byte, error) {
	r, err := verifiedSeal(path)
	if err != nil {
		return nil, err
	}
	return sig.Query(r.last.Text(), nonce)
}

// verifiedSeal verifies a bundle that has a seal.
func verifiedSeal(path string) (Report, error) {
	r, err := Verify(path)
	if err != nil {
		return r, err
	}
	for _, line := range r.Lines {
		if line.Verdict == Failed {
			return r, fmt.Errorf("%w: it gets no time stamp: %s: %s", ErrCorrupt, line.Property, line.Detail)
		}
	}
	if r.last == nil {
		return r, fmt.Errorf("%w: %q; seal it first", ErrUnsealed, path)
	}
	return r, nil
}

// StoreTimestamp checks the reply of an authority (a TimeStampResp in DER) and keeps it beside the seal that it is of. It
// must carry the nonce, where one was asked for. A seal has one time stamp; a good one that is there stays. No writer may
// have the bundle open.
func StoreTimestamp(path string, reply []byte, nonce *big.Int, o Options) (_ Timestamp, err error) {
	o = o.withDefaults()
	t, err := sig.ReadReply(reply)
	if err != nil {
		return Timestamp{}, fmt.Errorf("%w: %w", ErrStamp, err)
	}
	if nonce != nil && (t.Nonce == nil || t.Nonce.Cmp(nonce) != 0) {
		return Timestamp{}, fmt.Errorf("%w: it is not the reply to what was asked: its nonce is another", ErrStamp)
	}
	l, err := disk.TakeLock(path, o.Boot, o.Host)
	if err != nil {
		return Timestamp{}, fmt.Errorf("time stamp of bundle %q: %w", path, err)
	}
	defer func() {
		if rerr := l.Release(); err == nil {
			err = rerr
		}
	}()
	r, err := verifiedSeal(path)
	if err != nil {
		return Timestamp{}, err
	}
	for _, seal := range r.seals {
		if t.Fits(seal.Text()) {
			return placeStamp(path, seal, t, o.FS)
		}
	}
	return Timestamp{}, fmt.Errorf("%w: it is of no checkpoint of %q", ErrStamp, path)
}

func placeStamp(path string, seal sealedAt, t *sig.TimeStamp, fsys disk.FS) (Timestamp, error) {
	dir, name := filepath.Join(path, "seals"), strings.TrimSuffix(sealName(seal.number), ".txt")+".tsr"
	made := func(t *sig.TimeStamp, there bool) Timestamp {
		return Timestamp{File: "seals/" + name, Before: t.Time.Add(t.Accuracy), By: t.Chain[0].Subject.String(), There: there}
	}
	old, err := disk.Read(fsys, filepath.Join(dir, name), sig.MaxTimeStamp)
	if err == nil {
		was, perr := sig.ParseTimeStamp(old)
		if perr != nil { // verified above
			return Timestamp{}, fmt.Errorf("%q: %w", name, perr)
		}
		return made(was, true), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Timestamp{}, fmt.Errorf("time stamp of bundle %q: %w", path, err)
	}
	raw, err := t.Plain()
	if err == nil { // what was left out is not read again
		var back *sig.TimeStamp
		if back, err = sig.ParseTimeStamp(raw); err == nil && !bytes.Equal(back.Info, t.Info) {
			err = sig.ErrStampForm
		}
	}
	if err != nil {
		return Timestamp{}, fmt.Errorf("%w: %w", ErrStamp, err)
	}
	if err := disk.Write(fsys, dir, name, raw, 0o600); err != nil {
		return Timestamp{}, fmt.Errorf("the time stamp of %q could not be written; store the reply again once the disk works again: %w", path, err)
	}
	return made(t, false), nil
}
