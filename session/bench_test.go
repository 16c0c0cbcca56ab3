package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/steps/catalog"
	"handrail/triage"
)

// said is what the benchmarks record, and what their peers write.
const said = "the platform team is on the call and looks at the runner"

// long is an incident with n notes, under a runbook of the library: its gates
// and its texts are what publishing costs.
func long(b *testing.B, n int) *session.Session {
	b.Helper()
	st := newStage(b)
	kinds := catalog.New()
	lib, err := runbooks.Library(kinds)
	if err != nil {
		b.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(r *runbooks.Runbook) bool { return r.ID == "state-lock" })]
	params, err := rb.Bind(map[string]string{"dir": "."})
	if err != nil {
		b.Fatal(err)
	}
	st.cfg.Catalog = kinds
	s, err := session.Start(b.Context(), st.cfg, session.Begin{Runbook: rb, Params: params})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for range n {
		note(b, s)
	}
	return s
}

func note(b *testing.B, s *session.Session) {
	if err := s.Do(b.Context(), triage.Intent{Kind: triage.DoNote, Text: said}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRecord is one event from intent to published snapshot, durable, after
// so many others; its peer makes a plain line of the same text durable.
func BenchmarkRecord(b *testing.B) {
	b.Run("peer=line", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "lines"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			line, err := json.Marshal(triage.Note{Text: said})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Write(append(line, '\n')); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("after=%d", n), func(b *testing.B) {
			s := long(b, n)
			b.ReportAllocs()
			for b.Loop() {
				note(b, s)
			}
		})
	}
}
