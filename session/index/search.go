package index

import (
	"errors"
	"os"
	"path/filepath"
)

const (
	// looseMax is how many bundles a search reads itself before it writes a text
	// file of them.
	looseMax = 16
	// filesMax is how many text files there may be before they become one.
	filesMax = 8
)

// Search finds what a query asks for. It reads nothing but files.
func (s Store) Search(q Query) (Answer, error) {
	w := q.ready()
	all, err := s.refresh()
	if err != nil {
		return Answer{}, err
	}
	if w.byRow() {
		return s.searchWith(&w, all, nil)
	}
	for range 3 {
		files := s.catchUp(all)
		a, err := s.searchWith(&w, all, files)
		for _, f := range files {
			_ = f.close() // only read from
		}
		if !errors.Is(err, errDamaged) {
			return a, err
		}
	}
	return s.searchWith(&w, all, nil) // the cache is damaged again
}

// catchUp opens the text files, after it wrote one of what they lack.
func (s Store) catchUp(all []bundleContents) []*textFile {
	if s.cache == "" {
		return nil
	}
	files := s.texts()
	loose, held := looseOf(all, files)
	if len(loose) <= looseMax && len(files) <= filesMax && held <= 2*len(all)+64 {
		return files
	}
	if len(files) >= filesMax || held > 2*len(all)+64 {
		for _, f := range files {
			_, _ = f.close(), os.Remove(f.name)
		}
		files = nil
		loose, _ = looseOf(all, nil)
	}
	if s.writeText(loose) != nil {
		return files
	}
	for _, f := range files {
		_ = f.close()
	}
	return s.texts()
}

// looseOf names the readable bundles that no text file knows as they are, and
// counts what the files hold.
func looseOf(all []bundleContents, files []*textFile) (loose []string, held int) {
	at := places(files)
	for _, f := range files {
		held += len(f.bundles)
	}
	for i := range all {
		if p, ok := at[all[i].name]; all[i].row.Err == "" && (!ok || !p.b.stamp.same(all[i].stamp)) {
			loose = append(loose, all[i].name)
		}
	}
	return loose, held
}

// place is where a bundle is in the text files.
type place struct {
	f *textFile
	n int // of the file
	b *textBundle
}

func places(files []*textFile) map[string]place {
	at := map[string]place{}
	for n, f := range files {
		for i := range f.bundles {
			at[f.bundles[i].name] = place{f, n, &f.bundles[i]}
		}
	}
	return at
}

// searchWith goes through the bundles in their order, a few at once.
func (s Store) searchWith(w *wants, all []bundleContents, files []*textFile) (Answer, error) {
	var a Answer
	plans := make([]*candidates, len(files))
	for i, f := range files {
		c, err := f.candidates(w)
		if err != nil {
			_ = os.Remove(f.name)
			return Answer{}, err
		}
		plans[i] = c
	}
	at := places(files)
	var todo []job
	for i := range all {
		g := &all[i]
		if g.row.Err != "" {
			a.Problems = append(a.Problems, Problem{g.row.Path, g.row.Err})
		}
		a.Bundles++
		if !w.row(&g.row) {
			continue
		}
		j := job{g: g}
		if p, ok := at[g.name]; ok && p.b.stamp.same(g.stamp) {
			if j.place, j.c = p, plans[p.n]; !j.c.bundle(p.b) {
				continue
			}
		}
		todo = append(todo, j)
	}
	for from, few := 0, 8; from < len(todo) && !a.More; few = a.next(w.Limit, few) {
		n := min(few, len(todo)-from)
		got := make([]found, n)
		parallel(n, func(i int) { got[i] = s.one(w, todo[from+i]) })
		from += n
		for _, f := range got {
			if f.err != nil {
				return Answer{}, f.err
			}
			if a.Problems = append(a.Problems, f.problems...); !a.More {
				a.take(f, w.Limit)
			}
		}
	}
	if a.AtMost = len(a.Incidents); a.More {
		a.AtMost = len(todo)
	}
	return a, nil
}

// next is how many bundles to read at once, after so many before: more and
// more, but hardly more than it takes to reach the limit.
func (a *Answer) next(limit, few int) int {
	few = min(2*few, 256)
	if limit == 0 || len(a.Hits) == 0 {
		return few
	}
	return min(few, (limit+1-len(a.Hits))*len(a.Incidents)/len(a.Hits)+2)
}

// take adds what one bundle has, up to the limit.
func (a *Answer) take(f found, limit int) {
	if f.Lines == 0 {
		return
	}
	room := limit - len(a.Hits)
	if limit > 0 && room < len(f.hits) {
		if a.More = true; room == 0 {
			return
		}
		f.hits = f.hits[:room]
	}
	f.Shown = len(f.hits)
	a.Hits, a.Incidents = append(a.Hits, f.hits...), append(a.Incidents, f.Found)
}

// job is one bundle to search; without a place it is read itself.
type job struct {
	g *bundleContents
	place
	c *candidates
}

// found is what is in one bundle.
type found struct {
	Found
	hits     []Hit
	problems []Problem
	err      error
}

func (s Store) one(w *wants, j job) found {
	var (
		raw string
		f   found
	)
	f.Incident, f.Path = j.g.row.ID, j.g.row.Path
	if w.byRow() {
		r := &result{w: w, j: j, found: &f}
		if w.acts() {
			r.acts()
		} else {
			r.opening()
		}
		return f
	}
	if j.c != nil {
		if raw, f.err = j.f.read(j.b.page); f.err != nil {
			_ = os.Remove(j.f.name)
			return f
		}
	} else {
		raw = string(gather(s.dir, j.g.name, true).page.encode())
	}
	p, err := decodePage(raw)
	if err != nil {
		if j.c != nil {
			_ = os.Remove(j.f.name)
		}
		f.err = err
		return f
	}
	r := &result{w: w, j: j, found: &f}
	if j.c == nil && !w.holds(p) {
		return f
	}
	if w.acts() {
		r.acts()
	} else if w.byLine() {
		r.lines(p)
		r.artifacts(p, filepath.Join(s.dir, j.g.name))
	} else {
		r.keys(p)
	}
	return f
}
