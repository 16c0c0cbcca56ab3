package drills_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"regexp"
	"testing"

	"handrail/drills/inject"
	"handrail/evidence"
)

// plainHash is a hash of values that External Secrets keeps beside them, where it is not hidden.
var plainHash = regexp.MustCompile(`data-hash[\\"]*:[ ]*[\\"]*[0-9a-f]{16}`)

// valueless wants a bundle without any value of a store, as it is or in base64, and without a
// plain hash of one.
func valueless(t *testing.T, bundle string) {
	t.Helper()
	r, err := evidence.OpenReadOnly(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	mark := []byte(inject.ValueMark)
	coded := []byte(base64.StdEncoding.EncodeToString(mark)[:10]) // the last letters depend on what follows
	look := func(where string, b []byte) {
		if bytes.Contains(b, mark) || bytes.Contains(b, coded) || plainHash.Match(b) {
			t.Errorf("%s of the bundle holds a value of the store, or its hash", where)
		}
	}
	blobs := 0
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		look("entry "+e.Type, e.Data)
		for _, b := range e.Blobs {
			f, err := r.OpenBlob(b.SHA256)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(f)
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			look("artifact "+b.Role+" of "+e.Type, raw)
			blobs++
		}
	}
	if blobs == 0 {
		t.Error("the bundle has no artifact: nothing was looked at")
	}
}
