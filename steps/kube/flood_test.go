package kube

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"handrail/steps/transport"
)

// A server that blows up what it tells about itself is given up before it fills
// the memory: by discovery, and by the read that asked for it.
func TestDiscoveryOfAFlood(t *testing.T) {
	var part bytes.Buffer
	z := gzip.NewWriter(&part)
	if _, err := io.Copy(z, io.LimitReader(blanks{}, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Repeat(part.Bytes(), 512) // one file of gzip may have many parts
	many := `{"kind":"APIResourceList","groupVersion":"v1","resources":[` + strings.Repeat("{},", 8<<20) + `{}]}`
	for name, answer := range map[string]func(http.ResponseWriter){
		"blanks":      func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "gzip"); _, _ = w.Write(bomb) },
		"empty kinds": func(w http.ResponseWriter) { _, _ = io.WriteString(w, many) },
	} {
		f := newFakeServer(t)
		f.answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			answer(w)
			return true
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := readsProbe(t.Context(), f.env, "kube/list", what("resource", "things"), newReadsSink())
		runtime.ReadMemStats(&after)
		var long *transport.LongAnswerError
		if !errors.As(err, &long) && (err == nil || !strings.Contains(err.Error(), "given up")) {
			t.Errorf("%s: %v, want the answer given up", name, err)
		}
		if grown := int64(after.Sys-before.Sys) >> 20; grown > 512 {
			t.Errorf("%s: %d MiB more of the system", name, grown)
		}
	}
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
