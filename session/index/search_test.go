package index

import (
	"testing"

	"handrail/evidence"
)

func search(t *testing.T, s Store, q Query) Answer {
	t.Helper()
	a, err := s.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCorpusIsSound(t *testing.T) {
	t.Parallel()
	s := corpus(t, 8)
	rows, err := s.Rows()
	if err != nil || len(rows) != 8 {
		t.Fatalf("Rows() = %d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Err != "" {
			t.Fatalf("%s: %s", r.ID, r.Err)
		}
		if v, err := evidence.Verify(r.Path); err != nil || !v.OK() {
			t.Fatalf("%s: %+v %v", r.ID, v.Lines, err)
		}
	}
	a := search(t, s, Query{Text: "QUOKKA of"})
	if len(a.Hits) != 1 {
		t.Fatalf("hits = %+v", a.Hits)
	}
}
