package evidence

import (
	"maps"
	"slices"
)

// toldEntry is how many bytes of names one entry has.
const toldEntry = 256 << 10

// Sensitive tells, by type of resource, which attributes the schemas of providers call sensitive: in a raw state they carry no
// mark. A path is attribute names with dots between them, through lists, sets and maps of objects alike. It holds for what
// is stored from now on, and adds to what was told before.
func (b *Bundle) Sensitive(paths map[string][]string) {
	b.red.Note(paths)
	b.red.Tell(paths)
}

// Told is what Sensitive was told so far, by this writer and by those before it.
func (b *Bundle) Told() map[string][]string {
	return b.red.Told()
}

// keepTold says in the journal what schemas call sensitive: without it a later writer would store that in clear.
func (b *Bundle) keepTold() error {
	news := b.red.TakeNews()
	part, size := map[string][]string{}, 0
	put := func() error {
		if size == 0 {
			return nil
		}
		// Names of a schema are no secrets, and a token in their place would hide nothing later.
		_, err := b.appendLocked(Draft{Type: "env", Actor: "system", Data: map[string]any{"sensitive": part}, derived: true})
		part, size = map[string][]string{}, 0
		return err
	}
	for _, typ := range slices.Sorted(maps.Keys(news)) {
		for _, path := range news[typ] {
			if size += len(typ) + len(path) + 8; size > toldEntry {
				if err := put(); err != nil {
					return err
				}
				size = len(typ) + len(path) + 8
			}
			part[typ] = append(part[typ], path)
		}
	}
	return put()
}
