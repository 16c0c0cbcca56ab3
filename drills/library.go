package drills

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/strict"
)

//go:embed library
var embedded embed.FS

// Library returns the drills that come with the program, in order of id. An
// error is a fault of the program: the library is tested.
func Library(cat steps.Catalog) ([]*Drill, error) {
	return all(parser{cat: cat})
}

func all(p parser) ([]*Drill, error) {
	ids, err := ids()
	if err != nil {
		return nil, err
	}
	out := make([]*Drill, len(ids))
	for i, id := range ids {
		if out[i], err = p.embedded(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ids are those of the library, in order.
func ids() ([]string, error) {
	files, err := fs.Glob(embedded, "library/*.yaml")
	var out []string
	for _, file := range files {
		// What a drill names has a dot: its answers, its objects.
		if id := strings.TrimSuffix(path.Base(file), ".yaml"); !strings.Contains(id, ".") {
			out = append(out, id)
		}
	}
	return out, err
}

func (p parser) embedded(id string) (*Drill, error) {
	file := path.Join("library", id+".yaml")
	src, err := embedded.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d, err := p.drill(file, src, embedded)
	if err == nil && d.ID != id {
		err = fmt.Errorf("%s holds drill %q", file, d.ID)
	}
	return d, err
}

// Lookup returns the drill with this id; the error names the nearest one.
func Lookup(id string, cat steps.Catalog) (*Drill, error) {
	ids, err := ids()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(ids, id) {
		return nil, fmt.Errorf("there is no drill %q: %s", id, strict.Meant(id, ids))
	}
	return parser{cat: cat}.embedded(id)
}

// Row is a drill as a list shows it.
type Row struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Page     string   `json:"page"`
	Goal     string   `json:"goal"`
	Runbook  string   `json:"runbook"`
	Variants []string `json:"variants"`
	Backends []string `json:"backends"` // of the state that it can be started on, none where it has no choice
	Cluster  bool     `json:"cluster"`  // it needs the practice cluster
	Programs []string `json:"programs"` // of the lab, as Scene.Programs has them
}

// List returns the library as rows.
func List(cat steps.Catalog) ([]Row, error) {
	all, err := all(parser{cat: cat, listing: true})
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(all))
	for i, d := range all {
		s, err := d.Scene("")
		if err != nil {
			return nil, err
		}
		rows[i] = Row{ID: d.ID, Title: d.Title, Page: d.Page, Goal: d.Goal, Runbook: d.Runbook, Variants: d.Variants(), Backends: d.Backends(""), Cluster: s.Cluster(), Programs: s.Programs()}
	}
	return rows, nil
}
