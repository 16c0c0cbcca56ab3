package session

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"handrail/evidence"
	"handrail/triage"
)

// artifactMax bounds what Artifact gives to a screen.
const artifactMax = 4 << 20

// Artifact returns the stored bytes of a blob as text, cut after 4 MiB with a
// line that says so.
func (s *Session) Artifact(sha string) (string, error) { return artifactOf(s.path, sha) }

func artifactOf(path, sha string) (string, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	f, err := r.OpenBlob(sha)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, artifactMax+1))
	if err != nil {
		return "", fmt.Errorf("reading artifact %s: %w", sha, err)
	}
	if len(b) > artifactMax {
		return string(b[:artifactMax]) + "\n(cut here after 4 MiB; the whole is in " + filepath.Join(path, "blobs") + ")\n", nil
	}
	return string(b), nil
}

// LoadState folds a bundle without writing to it. Where an entry does not
// fold, the state up to it comes with the error.
func LoadState(path string) (triage.State, error) {
	var st triage.State
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
		next, err := foldEntry(st, e)
		if err != nil {
			return st, err
		}
		st = next
	}
	return st, nil
}
