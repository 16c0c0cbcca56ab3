package index

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/evidence"
	"handrail/session/journal"
)

func search(t *testing.T, s Store, q Query) Answer {
	t.Helper()
	a, err := s.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// plain is the same bundles without a cache: every search reads all of them.
func (s Store) plain() Store { return At(s.dir, "") }

// holdTo fails the test where an answer is not that of the bundles themselves.
func holdTo(t *testing.T, s Store, q Query) Answer {
	t.Helper()
	got, want := search(t, s, q), search(t, s.plain(), q)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("Search(%+v) with the index differs from the bundles (-bundles +index):\n%s", q, d)
	}
	return got
}

func textFiles(t *testing.T, s Store) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.cache, textPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRowsAreThoseOfTheBundles(t *testing.T) {
	t.Parallel()
	s := corpus(t, 12)
	for range 2 { // written, then read from the cache
		rows, err := s.Rows()
		if err != nil || len(rows) != 12 {
			t.Fatalf("Rows() = %d rows, %v", len(rows), err)
		}
		for _, r := range rows {
			if v, err := evidence.Verify(r.Path); err != nil || !v.OK() || r.Err != "" {
				t.Fatalf("%s: the generator wrote no sound bundle: %+v %v %s", r.ID, v.Lines, err, r.Err)
			}
			st, err := journal.LoadState(r.Path)
			if err != nil {
				t.Fatal(err)
			}
			if r.ID != st.Incident || r.Title != st.Title || r.Outcome != st.Outcome || r.Severity != st.Severity || r.Phase != st.Phase ||
				!r.Opened.Equal(st.Opened) || !r.Closed.Equal(st.Closed) || r.Entries != st.Seq+1 || r.Failure != st.Topics["class"].Value || len(r.Acts) != 1 {
				t.Errorf("row %+v is not the state of %s", r, r.Path)
			}
		}
		fresh, err := s.plain().Rows()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(fresh, rows); d != "" {
			t.Errorf("rows of the cache differ (-bundles +cache):\n%s", d)
		}
	}
	if _, err := os.Stat(filepath.Join(s.cache, rowsName)); err != nil {
		t.Error("no rows were kept")
	}
}

func TestOwedAndRepaired(t *testing.T) {
	t.Parallel()
	rows, err := corpus(t, 15).Rows()
	if err != nil {
		t.Fatal(err)
	}
	if got := Carried(rows); len(got) != 3 || got[0].Settled.Owner != "platform" {
		t.Errorf("Carried() = %+v, want those of 0, 5 and 10", got)
	}
	if got := Suspensions(rows); len(got) != 3 || got[0].ID != "resume" || !strings.HasSuffix(got[0].Incident, "-0014") {
		t.Errorf("Suspensions() = %+v, want those of 14, 7 and 0", got)
	}
	reps := Repairs(rows)
	if len(reps) != 15 || reps[0].At.Before(reps[14].At) || reps[0].Uses != "terraform/unlock" {
		t.Fatalf("Repairs() = %d, want 15, the newest first", len(reps))
	}
}

// Any part of any line is found, by the index as in the bundles.
func TestAnyPartOfAnyLineIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	s := corpus(t, 18)
	rng := rand.New(rand.NewPCG(1, 2))
	names, err := bundleNames(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 16 {
		bundle := filepath.Join(s.dir, pick(rng, names))
		text := someLine(t, rng, bundle)
		from := rng.IntN(len(text))
		part := text[from:min(len(text), from+1+rng.IntN(30))]
		if rng.IntN(2) == 0 {
			part = strings.ToUpper(part)
		}
		if a := holdTo(t, s, Query{Text: []string{part}}); len(a.Hits) == 0 {
			t.Fatalf("%q stands in %s and was not found", part, bundle)
		}
	}
	if len(textFiles(t, s)) != 1 {
		t.Errorf("text files: %v, want one", textFiles(t, s))
	}
}

// someLine is a line of the journal or of an artifact.
func someLine(t *testing.T, rng *rand.Rand, bundle string) string {
	t.Helper()
	g := gather(filepath.Dir(bundle), filepath.Base(bundle), true)
	if rng.IntN(2) == 0 {
		for {
			if e := g.page.entries[rng.IntN(len(g.page.entries))]; len(e.lines) > 0 {
				return e.lines[rng.IntN(len(e.lines))].text
			}
		}
	}
	b := openBlobs(bundle)
	defer b.close()
	text, err := b.read(g.page.blobs[rng.IntN(len(g.page.blobs))].sha, maxBlob)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return all[rng.IntN(len(all))]
}

func TestEveryKeyAndFilter(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	s := corpus(t, 40)
	g := gather(s.dir, filepath.Base(incidentPath(t, s, 17)), true)
	values := map[Key]string{}
	for _, e := range g.page.entries {
		for _, l := range e.lines {
			if l.key != NoKey && values[l.key] == "" {
				values[l.key] = l.val()
			}
		}
	}
	for _, k := range Keys() {
		if values[k] == "" {
			t.Errorf("the bundle has no value of %s: the test looks for the wrong thing", k)
			continue
		}
		for _, v := range []string{values[k], strings.ToUpper(values[k]), values[k][:1] + "*", "*" + values[k][1:], "*"} {
			a := search(t, s, Query{Keys: map[Key][]string{k: {v}}})
			if !named(a, g.row.ID) {
				t.Errorf("%s=%s does not find its incident", k, v)
			}
		}
		holdTo(t, s, Query{Keys: map[Key][]string{k: {values[k][:1] + "*"}}})
		if a := search(t, s, Query{Keys: map[Key][]string{k: {values[k] + "x"}}}); len(a.Hits) != 0 {
			t.Errorf("%s=%sx finds %+v", k, values[k], a.Hits)
		}
	}
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		q    Query
		want int
	}{
		{Query{}, 40},
		{Query{Outcome: []string{Ongoing}}, 4},
		{Query{Outcome: []string{"aborted", "open"}}, 36},
		{Query{Since: day}, 16},
		{Query{Until: day.Add(-time.Minute)}, 24},
		{Query{Since: day, Until: day.Add(90 * time.Minute)}, 2},
		{Query{Keys: map[Key][]string{PullRequest: {"4011", "4012"}}}, 2},
		{Query{Keys: map[Key][]string{PullRequest: {"4011"}, Exception: {"EXC-11"}}}, 2},
		{Query{Keys: map[Key][]string{PullRequest: {"4011"}, Exception: {"EXC-12"}}}, 0},
		{Query{Text: []string{"quokka"}}, 1},
		{Query{Text: []string{"quokka"}, Since: day}, 0},
		{Query{Text: []string{"takes the lock away"}}, 40},
		{Query{Text: []string{"takes the lock away"}, Limit: 7}, 7},
		{Query{Text: []string{"away", "LOCK", "takes"}}, 40},
		{Query{Text: []string{"takes", "quokka"}}, 0},
		{Query{Text: []string{"quokka"}, Kind: []string{"note"}}, 1},
		{Query{Text: []string{"quokka"}, Kind: []string{"probe"}}, 0},
		{Query{Text: []string{"takes the lock away"}, Kind: []string{"gate", "answer"}}, 40},
		{Query{Kind: []string{Acts}}, 40},
		{Query{Kind: []string{Acts}, Text: []string{"done", "lock id", "was read"}}, 40},
		{Query{Kind: []string{Acts}, Text: []string{"quokka"}}, 0},
		{Query{Kind: []string{Acts}, Keys: map[Key][]string{PullRequest: {"4011"}}}, 1},
		{Query{Text: []string{"==="}}, 0},
		{Query{Text: []string{"é"}}, 0},
		{Query{Runbook: []string{"no-such"}}, 0},
	} {
		a := holdTo(t, s, c.q)
		if len(a.Hits) != c.want || a.More != (c.q.Limit > 0) {
			t.Errorf("%d: %+v gives %d hits (more: %v), want %d", i, c.q, len(a.Hits), a.More, c.want)
		}
	}
	sum := 0
	for _, f := range failures {
		sum += len(holdTo(t, s, Query{Failure: []string{f}}).Hits)
	}
	if sum != 40 {
		t.Errorf("the failure states have %d incidents together, want 40", sum)
	}
}

// TestActsSayWhoAndOnWhatEvidence: one hit of an act holds who did it, as which user,
// to what, and each reading that its gate stood on.
func TestActsSayWhoAndOnWhatEvidence(t *testing.T) {
	t.Parallel()
	a := holdTo(t, corpus(t, 3), Query{Kind: []string{Acts}, Text: []string{"lock id"}})
	if len(a.Hits) != 3 {
		t.Fatalf("%d hits, want an act of each incident", len(a.Hits))
	}
	for _, h := range a.Hits {
		operator, user, _ := strings.Cut(h.Who, " as ")
		if operator == "" || operator != user || h.Line != "done: takes the lock away" {
			t.Errorf("the act is by %q: %s", h.Who, h.Line)
		}
		if len(h.Evidence) != 1 || !strings.HasSuffix(h.Evidence[0].Step, "/probe0") || h.Evidence[0].Seq == 0 || h.Evidence[0].Who != operator ||
			!strings.Contains(h.Evidence[0].Text, "was read") {
			t.Errorf("its evidence is %+v, want what was read in probe0", h.Evidence)
		}
	}
}

func named(a Answer, id string) bool {
	for _, h := range a.Hits {
		if h.Incident == id {
			return true
		}
	}
	return false
}

func incidentPath(t *testing.T, s Store, n int) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, fmt.Sprintf("*-%04d.hrb", n)))
	if err != nil || len(found) != 1 {
		t.Fatalf("incident %d: %v %v", n, found, err)
	}
	return found[0]
}

func TestFingerprintFindsTheKindOfAnError(t *testing.T) {
	t.Parallel()
	s := corpus(t, 20)
	fp := FingerprintOf("Error: waiting for payments-0badc0ffee to become ready: timed out after 42s, request 6f1d3c7e-0000-4000-8000-00000000cafe")
	a := holdTo(t, s, Query{Fingerprints: []Fingerprint{fp}})
	for _, h := range a.Hits {
		if h.Fingerprint != fp || !strings.Contains(h.Line, "waiting for payments-") || h.Artifact == "" {
			t.Errorf("hit %+v is no such error", h)
		}
	}
	if len(a.Hits) == 0 {
		t.Error("the kind of error is in the bundles and was not found")
	}
	if a := holdTo(t, s, Query{Fingerprints: []Fingerprint{"0123456789abcdef"}}); len(a.Hits) != 0 {
		t.Errorf("an unknown fingerprint finds %+v", a.Hits)
	}
}

// What changes after the index was made is in the next answer.
func TestFollowsTheBundles(t *testing.T) {
	t.Parallel()
	s := corpus(t, 20)
	if a := holdTo(t, s, Query{Text: []string{"wombat"}}); len(a.Hits) != 0 {
		t.Fatal("a wombat before its time")
	}
	open := incidentPath(t, s, 13) // goes on
	b, err := evidence.Open(open, evidence.Options{FS: quickFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "op", Data: map[string]string{"text": "a wombat"}}); err != nil {
		t.Fatal(err)
	}
	if a := holdTo(t, s, Query{Text: []string{"wombat"}}); len(a.Hits) != 1 || a.Hits[0].Path != open || a.Hits[0].Line != "text: a wombat" {
		t.Fatalf("hits = %+v, want the note of the open incident", a.Hits)
	}
	if err := os.RemoveAll(open); err != nil {
		t.Fatal(err)
	}
	if a := holdTo(t, s, Query{Text: []string{"wombat"}}); len(a.Hits) != 0 || a.Bundles != 19 {
		t.Fatalf("a bundle that is gone gives %+v", a.Hits)
	}
	for n := 100; n < 130; n++ {
		incident(t, s.dir, n)
	}
	if a := holdTo(t, s, Query{Text: []string{"EXC-117"}}); len(a.Hits) != 1 {
		t.Fatalf("a new bundle gives %+v", a.Hits)
	}
	if n := len(textFiles(t, s)); n != 2 {
		t.Errorf("%d text files, want a second for the new bundles", n)
	}
}

func TestManyTextFilesBecomeOne(t *testing.T) {
	t.Parallel()
	s := corpus(t, filesMax+2)
	names, err := bundleNames(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:filesMax+1] {
		if err := s.writeText([]string{name}); err != nil {
			t.Fatal(err)
		}
	}
	if a := holdTo(t, s, Query{Text: []string{"EXC-5"}}); len(a.Hits) != 1 {
		t.Errorf("hits = %+v", a.Hits)
	}
	if n := len(textFiles(t, s)); n != 1 {
		t.Errorf("%d text files, want them joined", n)
	}
}

// What cannot be read is told, and never taken for absent.
func TestUnreadableIsReported(t *testing.T) {
	t.Parallel()
	s := corpus(t, 20)
	holdTo(t, s, Query{Text: []string{"warm"}})
	if err := os.Mkdir(filepath.Join(s.dir, "empty.hrb"), 0o700); err != nil {
		t.Fatal(err)
	}
	// An edit that keeps length and time.
	edited := segmentPath(incidentPath(t, s, 4), 1)
	flipByte(t, edited)
	// An artifact with other bytes, and one that is gone.
	swapped, gone := incidentPath(t, s, 5), incidentPath(t, s, 6)
	for i, path := range []string{swapped, gone} {
		err := filepath.WalkDir(filepath.Join(path, "blobs"), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir():
				return err
			case i == 1:
				return os.Remove(name)
			}
			flipByte(t, name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	a := search(t, s, Query{Text: []string{"timed out after"}})
	if d := cmp.Diff(search(t, s.plain(), Query{Text: []string{"timed out after"}}).Hits, a.Hits); d != "" {
		t.Errorf("hits differ (-bundles +index):\n%s", d)
	}
	told := map[string]bool{}
	for _, p := range a.Problems {
		told[p.Path] = true
	}
	for _, path := range []string{filepath.Join(s.dir, "empty.hrb"), filepath.Dir(filepath.Dir(edited)), swapped, gone} {
		if !told[path] {
			t.Errorf("nothing is said of %s; problems: %+v", path, a.Problems)
		}
	}
	if len(told) != 4 {
		t.Errorf("problems of %d bundles, want 4: %+v", len(told), a.Problems)
	}
	for _, h := range a.Hits {
		if h.Artifact != "" && (h.Path == swapped || h.Path == gone) {
			t.Errorf("a line of an artifact that is not what its name says: %+v", h)
		}
	}
}

// flipByte changes one bit in the middle of a file and puts its time back.
func flipByte(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	s := corpus(t, 9)
	want := search(t, s.plain(), Query{Text: []string{"EXC-1"}})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for range 2 {
				if i == 0 { // the cache is deleted meanwhile
					if err := os.RemoveAll(s.cache); err != nil && !os.IsExist(err) && !strings.Contains(err.Error(), "not empty") {
						t.Error(err)
					}
				}
				got, err := s.Search(Query{Text: []string{"EXC-1"}})
				if err != nil {
					t.Error(err)
				} else if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
	wg.Wait()
}

// A place where no cache can be written costs time, not answers.
func TestWithoutAPlaceForTheCache(t *testing.T) {
	t.Parallel()
	s := corpus(t, 20)
	if err := os.WriteFile(s.cache, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := holdTo(t, s, Query{Text: []string{"EXC-11"}}); len(a.Hits) != 1 {
		t.Errorf("hits = %+v", a.Hits)
	}
}
