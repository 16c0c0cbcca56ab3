package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"

	"handrail/evidence/jsontree"
	"handrail/evidence/redact"
)

// Append records one entry and returns it as stored, after it is durable. The returned Data is the redacted one and is
// the caller's. An error that is not ErrDead leaves the bundle usable and wrote nothing.
func (b *Bundle) Append(ctx context.Context, d Draft) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	switch {
	case d.Type == "recover" || d.Type == "seal" || d.Type == "reopen" || d.Type == "checkpoint":
		return Entry{}, fmt.Errorf("entry type %q is the store's own", d.Type)
	case !b.opts.Types.known(d.Type):
		return Entry{}, fmt.Errorf("%w: %q", ErrUnknownEntry, d.Type)
	}
	return b.append(d)
}

func (b *Bundle) append(d Draft) (Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return Entry{}, err
	}
	if err := b.preface(d.Type, d.Actor); err != nil {
		return Entry{}, err
	}
	return b.appendLocked(d)
}

func (b *Bundle) usable() error {
	if b.closed && b.dead == nil {
		return fmt.Errorf("%w: it was closed", ErrDead)
	}
	return b.dead
}

func (b *Bundle) appendLocked(d Draft) (Entry, error) {
	if b.dead != nil {
		return Entry{}, b.dead
	}
	e, err := b.compose(d)
	if err != nil {
		return Entry{}, err
	}
	data := e.Data
	if len(data) > longData && !ownType(d.Type) {
		if err := b.shorten(&e); err != nil {
			return Entry{}, fmt.Errorf("data of %s: %w", d.Type, err)
		}
	}
	line, hash := appendEntry(b.buf[:0], &e)
	line = append(line, '\n')
	b.buf = line
	if len(line) > MaxEntry {
		b.buf = nil
		return Entry{}, fmt.Errorf("%w: %s with %d bytes; put its bulk in a blob", ErrTooLarge, d.Type, len(line))
	}
	e.Hash = hash
	if err := b.store(&e, line); err != nil {
		return Entry{}, err
	}
	b.red.Hear(data)
	e.Data = data
	return e, nil
}

// shorten sets the data of e aside.
func (b *Bundle) shorten(e *Entry) error {
	if len(e.Data) > MaxData {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(e.Data))
	}
	blob, short, err := b.setAside(e.Data)
	if err != nil {
		return err
	}
	// A blob that was there with other bytes was told of meanwhile.
	e.Data, e.Seq, e.Prev = short, b.chain.next, b.chain.prev
	e.Blobs = append(e.Blobs, blob)
	return nil
}

// store makes the line of an entry durable; after an error nothing more is taken.
func (b *Bundle) store(e *Entry, line []byte) error {
	if err := b.write(line); err != nil {
		b.dead = writeFailed(b.path, err)
		return b.dead
	}
	b.chain = chain{next: e.Seq + 1, prev: e.Hash}
	b.ledger.add(b.id, e)
	b.red.Hear(line)
	return nil
}

func (b *Bundle) compose(d Draft) (Entry, error) {
	data, err := redactData(b.red, d.Data, d.derived)
	if err != nil {
		return Entry{}, fmt.Errorf("data of %s: %w", d.Type, err)
	}
	e := Entry{
		V: entryVersion, Seq: b.chain.next, Type: d.Type, T: b.opts.Now().UTC().Format(timeLayout),
		Mono: strconv.FormatInt(b.opts.Mono().Nanoseconds(), 10), Boot: b.opts.Boot,
		Actor: b.red.Text(d.Actor), Step: b.red.Text(d.Step), Data: data, Prev: b.chain.prev,
	}
	for _, blob := range d.Blobs {
		if !isHex64(blob.SHA256) {
			return Entry{}, fmt.Errorf("blob %q of %s is not named by a SHA-256", blob.SHA256, d.Type)
		}
		if blob.Media == mediaData {
			return Entry{}, fmt.Errorf("media type %q of %s is the store's own", mediaData, d.Type)
		}
		if _, err := b.fs.Lstat(b.BlobPath(blob.SHA256)); err != nil {
			return Entry{}, fmt.Errorf("blob of %s was not committed: %w", d.Type, err)
		}
		blob.Role, blob.Media = b.red.Text(blob.Role), b.red.Text(blob.Media)
		e.Blobs = append(e.Blobs, blob)
	}
	return e, nil
}

// write makes one line durable: one write, one sync. A failed sync is never tried again, because the kernel may have
// marked the lost pages clean and would report success.
func (b *Bundle) write(line []byte) error {
	if b.segSize > 0 && b.segSize+int64(len(line)) > segmentSize {
		if err := b.seg.Close(); err != nil {
			return err
		}
		b.segNo++
		if err := b.openSegment(); err != nil {
			return err
		}
	}
	n, err := b.seg.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	if !b.opts.noSync {
		if err := b.seg.Sync(); err != nil {
			return err
		}
	}
	b.segSize += int64(len(line))
	return b.stillThere()
}

// stillThere looks before an entry is acknowledged whether the journal can still be found: a file that was removed
// or replaced takes writes and syncs as if nothing had happened.
func (b *Bundle) stillThere() error {
	info, err := b.fs.Lstat(filepath.Join(b.path, "journal", segmentName(b.segNo)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", errRemoved, err)
	case err != nil:
		return err
	case info.Size() != b.segSize:
		return fmt.Errorf("%w: it has %d bytes and not the %d that were written", errRemoved, info.Size(), b.segSize)
	}
	return nil
}

// redactData marshals v and redacts every string in it; the result is a JSON object in canonical form.
// Data that is derived from what was stored is redacted already, and a token in it must stay what it is.
func redactData(r *redact.Redactor, v any, derived bool) (json.RawMessage, error) {
	if v == nil {
		return json.RawMessage("{}"), nil
	}
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	if len(raw) > 2*MaxData { // no redaction makes it short enough
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(raw))
	}
	n, err := jsontree.Parse(raw, jsontree.StrictKeys)
	if err != nil {
		return nil, err
	}
	if n.Kind != jsontree.Object {
		return nil, errors.New("not a JSON object")
	}
	if !derived {
		r.EventData(n)
	}
	return n.AppendTo(make([]byte, 0, len(raw)+64), -1, 0), nil
}
