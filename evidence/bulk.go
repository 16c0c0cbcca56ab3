package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"handrail/evidence/disk"
	"handrail/evidence/jsontree"
)

// Data that is too long for a line of the journal goes into a blob as a whole, and the line keeps what is short of it.

const (
	mediaData = "application/vnd.handrail.data+json"
	roleData  = "data"
	bulkKey   = "bulk"

	// MaxData is the longest data of one entry.
	MaxData = 128 << 20

	longData   = 256 << 10 // data over this goes into a blob
	longMember = 16 << 10  // a member over this is not repeated in the line
	longShort  = 128 << 10 // nor is any, where those that are left come to more than this
	// maxWhole bounds what a reader of one journal takes from such blobs: a short line may name a long one again and again.
	maxWhole = 8 << 30
)

// ownType says that the entries of a type are the store's own, which are short.
func ownType(typ string) bool {
	switch typ {
	case "env", "recover", "seal", "reopen", "checkpoint":
		return true
	}
	return false
}

// shortened is what the line keeps of data: its short members, and the name of the blob that holds all.
func shortened(n *jsontree.Node, sum string) json.RawMessage {
	short, size := &jsontree.Node{Kind: jsontree.Object}, 0
	for _, m := range n.Members {
		if l := len(m.Key) + len(m.Value.AppendTo(nil, -1, 0)); l <= longMember && m.Key != bulkKey {
			short.Members = append(short.Members, m)
			size += l
		}
	}
	if size > longShort {
		short.Members = nil
	}
	short.Members = append(short.Members, jsontree.Member{Key: bulkKey, Value: &jsontree.Node{Kind: jsontree.String, Text: sum}})
	return short.AppendTo(nil, -1, 0)
}

// setAside stores data, which is redacted already, as a blob. It returns what the line says instead.
func (b *Bundle) setAside(data json.RawMessage) (Blob, json.RawMessage, error) {
	n, err := jsontree.Parse(data, jsontree.StrictKeys)
	if err != nil {
		return Blob{}, nil, err
	}
	sum := sumHex(data)
	b.temp++
	name := filepath.Join(b.path, "blobs", "sha256", fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), b.temp))
	f, err := b.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Blob{}, nil, err
	}
	wrote, err := f.Write(data)
	if err == nil && wrote < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Chmod(0o400)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = b.placeLocked(name, sum)
	}
	if err != nil {
		_ = b.fs.Remove(name) // left behind, it is removed by the next Open
		return Blob{}, nil, err
	}
	return Blob{Role: roleData, SHA256: sum, Size: int64(len(data)), Media: mediaData}, shortened(n, sum), nil
}

// setAsideOf names the blob that holds the data of an entry. It is the last one.
func setAsideOf(e *Entry) (Blob, bool) {
	if len(e.Blobs) == 0 || ownType(e.Type) {
		return Blob{}, false
	}
	b := e.Blobs[len(e.Blobs)-1]
	return b, b.Media == mediaData
}

// whole gives entries their data back, for a reader of one journal.
type whole struct {
	r    *Reader
	took int64
}

// fill puts the data of e in place of what its line says of it, once it is proven to be what the line names.
func (w *whole) fill(e *Entry) error {
	b, ok := setAsideOf(e)
	if !ok {
		return nil
	}
	if w.took += b.Size; b.Size > MaxData || w.took > maxWhole {
		return fmt.Errorf("%w: data of entry %d is longer than it may be", ErrCorrupt, e.Seq)
	}
	data, err := w.r.dataOf(e, b)
	if err != nil {
		return fmt.Errorf("data of entry %d in blob %s: %w", e.Seq, b.SHA256, err)
	}
	e.Data = data
	return nil
}

func (r *Reader) dataOf(e *Entry, b Blob) (json.RawMessage, error) {
	f, err := r.OpenBlob(b.SHA256)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxData+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return heldTo(e, b, raw)
}

// heldTo accepts the bytes of a blob as the data of e: they have its hash, one form, and what the line says of them.
func heldTo(e *Entry, b Blob, raw []byte) (json.RawMessage, error) {
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != b.SHA256 || int64(len(raw)) != b.Size {
		return nil, fmt.Errorf("%w: it has other bytes than its name says", ErrCorrupt)
	}
	n, err := jsontree.Parse(raw, jsontree.StrictKeys)
	if err != nil || n.Kind != jsontree.Object || !bytes.Equal(n.AppendTo(make([]byte, 0, len(raw)), -1, 0), raw) {
		return nil, fmt.Errorf("%w: it is no object in canonical form", ErrCorrupt)
	}
	if !bytes.Equal(shortened(n, b.SHA256), e.Data) {
		return nil, fmt.Errorf("%w: the journal says something else of it", ErrCorrupt)
	}
	return raw, nil
}

// hearWhole remembers the tokens of data that was set aside. What cannot be read is found when the journal is read.
func (b *Bundle) hearWhole(e *Entry) {
	if aside, ok := setAsideOf(e); ok && isHex64(aside.SHA256) {
		raw, err := disk.Read(b.fs, b.BlobPath(aside.SHA256), MaxData)
		if err == nil {
			b.red.Hear(raw)
		}
	}
}
