package triage

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEveryEventIsListed finds the payloads in the source, by the method that all
// of them have: one without a row is never read back.
func TestEveryEventIsListed(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, e := range EventTypes() {
		rows = append(rows, e.body.Name())
		if !slices.Contains([]Group{InCall, InReads, InWords, InGates, InDetail}, e.Group) {
			t.Errorf("%s is in no group", e.Type)
		}
		b, err := Decode(e.Type, []byte(`{}`))
		if err != nil || reflect.TypeOf(b) != e.body || b.Type() != e.Type || !IsEvent(e.Type) || GroupOf(e.Type) != e.Group {
			t.Errorf("%s reads as %T (error %v), want a %s", e.Type, b, err, e.body)
		}
		if _, err := Decode(e.Type, []byte(`[]`)); err == nil || !strings.Contains(err.Error(), "reading a "+e.Type+" event") {
			t.Errorf("%s of a list: %v", e.Type, err)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	own := map[string]int{} // methods that are not those of an event inside it
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			switch of, _ := f.Recv.List[0].Type.(*ast.Ident); f.Name.Name {
			case "Type":
				bodies = append(bodies, of.Name)
			case "fold", "moment":
				own[of.Name]++
			}
		}
	}
	for _, name := range bodies {
		if own[name] != 2 {
			t.Errorf("%s has no fold or no moment of its own", name)
		}
	}
	slices.Sort(rows)
	slices.Sort(bodies)
	if !slices.Equal(rows, bodies) || len(slices.Compact(rows)) != len(bodies) {
		t.Errorf("rows of EventTypes: %s\npayloads: %s", rows, bodies)
	}
}
