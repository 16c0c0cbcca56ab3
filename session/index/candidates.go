package index

// candidates are the documents of a text file that a query can be in.
type candidates struct {
	lines docSet // nil for all
	keys  []docSet
}

func (t *textFile) candidates(w *wants) (*candidates, error) {
	c := &candidates{}
	for _, p := range w.pieces {
		if c.lines != nil && c.lines.few() {
			break // whether a line fits is seen in the line itself
		}
		set := t.none()
		if err := t.withPiece(set, p); err != nil {
			return nil, err
		}
		c.narrow(set)
	}
	if len(w.Fingerprints) > 0 {
		set := t.none()
		for _, fp := range w.Fingerprints {
			if err := t.withWord(set, string(rune(printWord))+string(fp)); err != nil {
				return nil, err
			}
		}
		c.narrow(set)
	}
	if c.lines != nil {
		c.lines.add(t.always)
	}
	for k, ps := range w.keys {
		set := t.none()
		for _, p := range ps {
			if err := t.withKey(set, k, p); err != nil {
				return nil, err
			}
		}
		c.keys = append(c.keys, set)
	}
	return c, nil
}

func (c *candidates) narrow(set docSet) {
	if c.lines == nil {
		c.lines = set
		return
	}
	c.lines.keep(set)
}

func (c *candidates) bundle(b *textBundle) bool {
	for _, k := range c.keys {
		if !k.has(b.first) {
			return false
		}
	}
	return c.lines == nil || c.lines.any(b.first, b.docs)
}

// document reports whether the nth document of a bundle is worth a look.
func (j job) document(n int) bool {
	return j.c == nil || j.c.lines == nil || n < int(j.b.docs) && j.c.lines.has(j.b.first+uint32(n))
}
