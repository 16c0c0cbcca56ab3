package drills

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"handrail/steps"
	"handrail/steps/strict"
)

//go:embed library
var embedded embed.FS

// Library returns the drills that come with the program, in order of id. An
// error is a fault of the program: the library is tested.
func Library(cat steps.Catalog) ([]*Drill, error) {
	files, err := fs.Glob(embedded, "library/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*Drill
	for _, file := range files {
		if strings.Contains(strings.TrimSuffix(path.Base(file), ".yaml"), ".") {
			continue // what a drill names: its answers, its objects
		}
		src, err := embedded.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d, err := Parse(file, src, embedded, cat)
		if err != nil {
			return nil, err
		}
		if d.ID+".yaml" != path.Base(file) {
			return nil, fmt.Errorf("%s holds drill %q", file, d.ID)
		}
		out = append(out, d)
	}
	return out, nil
}

// Lookup returns the drill with this id; the error names the nearest one.
func Lookup(id string, cat steps.Catalog) (*Drill, error) {
	all, err := Library(cat)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all))
	for i, d := range all {
		if d.ID == id {
			return d, nil
		}
		ids[i] = d.ID
	}
	return nil, fmt.Errorf("there is no drill %q: %s", id, strict.Meant(id, ids))
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
	all, err := Library(cat)
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
