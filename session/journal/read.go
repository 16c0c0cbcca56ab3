package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"handrail/evidence"
	"handrail/triage"
)

// Artifact is a blob that is open for reading, as it is stored: redacted. Several
// goroutines may read at once; Close also ends those.
type Artifact interface {
	io.ReaderAt
	io.Closer
	// Size is how many bytes it had when it was opened.
	Size() int64
}

// blobFile is what the store opens.
type blobFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

type openBlob struct {
	blobFile
	size int64
}

func (a openBlob) Size() int64 { return a.size }

// OpenArtifact opens the blob of that hash in a bundle. Nothing of it is read by that.
func OpenArtifact(path, sha string) (Artifact, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	blob, err := r.OpenBlob(sha)
	if err != nil {
		return nil, fmt.Errorf("opening artifact %q: %w", sha, err)
	}
	f, ok := blob.(blobFile)
	if !ok {
		return nil, errors.Join(fmt.Errorf("artifact %q is not a file", sha), blob.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening artifact %q: %w", sha, err), f.Close())
	}
	return openBlob{f, info.Size()}, nil
}

// LoadState folds a bundle without writing to it. Where an entry does not
// fold, the state up to it comes with the error; so it does where the journal is
// longer than what is folded of a stranger's, and the error wraps
// [triage.ErrTooLong].
func LoadState(path string) (triage.State, error) {
	var st triage.State
	var limit triage.Limit
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return st, err
	}
	defer r.Close()
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) { // the writer is at work, or died in a write
			break
		}
		if err != nil {
			return st, err
		}
		if err := limit.Take(e.Data, st); err != nil {
			return st, fmt.Errorf("nothing was read from entry %d on: %w", e.Seq, err)
		}
		next, err := Fold(st, e)
		if err != nil {
			return st, err
		}
		st = next
	}
	return st, nil
}

// Fold applies one stored entry to a state.
func Fold(st triage.State, e evidence.Entry) (triage.State, error) {
	body, err := triage.Decode(e.Type, e.Data)
	if err != nil {
		return st, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	at, err := e.Time()
	if err != nil {
		return st, fmt.Errorf("entry %d: reading its time: %w", e.Seq, err)
	}
	return triage.Fold(st, triage.Event{Seq: e.Seq, At: at, Actor: e.Actor, Body: body})
}
