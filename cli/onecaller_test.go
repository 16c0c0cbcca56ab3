package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// goFiles lists the Go files of the module, relative to its root. The lab is in
// modules of its own.
func goFiles(t *testing.T) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "lab" || path == "bin" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestOnlySessionActs: both keys of a gate (the laws and the phrase) turn in one
// file. Nothing else may confirm a gate, call an act, or build the transport
// that writes; and the gates of clusters alone may send what was approved there.
func TestOnlySessionActs(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range dangerous(t, file, src) {
			seen[use.what]++
			if !use.allowedIn(file) {
				t.Errorf("%s:%d: %s, which only %s may do", file, use.line, use.what, use.owner)
			}
		}
	}
	for _, what := range []string{confirms, acts, sends, guards} {
		if seen[what] == 0 {
			t.Errorf("nothing %s: the test looks for the wrong name", what)
		}
	}
}

// TestDangerousIsSeen proves that the search finds what it looks for.
func TestDangerousIsSeen(t *testing.T) {
	t.Parallel()
	src := `package p
import ("handrail/steps"; tr "handrail/steps/transport"; "handrail/steps/kube/act"; "handrail/steps/cluster")
func f(g steps.Gater, cl *cluster.Client) { c := steps.Confirm; _ = c; g.Act(nil, nil, nil); _ = tr.Act; _ = tr.Store; _ = tr.Probe; _ = act.Send; _ = act.Perform; _ = act.NewSender; cl.Through(nil); _ = act.Unsent }`
	got := dangerous(t, "p/p.go", []byte(src))
	if len(got) != 8 {
		t.Fatalf("found %v, want eight uses", got)
	}
	for _, use := range got {
		if use.allowedIn("p/p.go") || !use.allowedIn(use.owner+"x.go") && !use.allowedIn(use.owner) {
			t.Errorf("%+v is allowed in the wrong place", use)
		}
	}
}

const (
	confirms = "confirms a gate"
	acts     = "carries out an act"
	writes   = "builds a transport that writes"
	sends    = "sends the request of a gate"
	guards   = "takes a client for requests that a guard of its own lets through"
)

// use is one place that does something dangerous.
type use struct {
	what  string
	owner string // the file, or the folder, that may
	line  int
}

// commentOnBundle is the one act outside of an incident: a comment with the digest of a bundle that is sealed, whose
// journal takes no more entries. It goes through the same gate.
const commentOnBundle = "cli/bundle/post.go"

func (u use) allowedIn(file string) bool {
	if file == commentOnBundle {
		return u.what == confirms || u.what == acts
	}
	return file == u.owner || strings.HasSuffix(u.owner, "/") && strings.HasPrefix(file, u.owner)
}

func dangerous(t *testing.T, name string, src []byte) []use {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := importNames(file)
	var found []use
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			if call, ok := n.(*ast.CallExpr); ok {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && names[ident(sel.X)] == "" {
					switch sel.Sel.Name {
					case "Act":
						found = append(found, use{acts, "session/act.go", fset.Position(sel.Pos()).Line})
					case "Through":
						found = append(found, use{guards, "steps/kube/act/", fset.Position(sel.Pos()).Line})
					}
				}
			}
			return true
		}
		line := fset.Position(sel.Pos()).Line
		switch pkg := names[ident(sel.X)]; {
		case pkg == "handrail/steps" && sel.Sel.Name == "Confirm":
			found = append(found, use{confirms, "session/act.go", line})
		case pkg == "handrail/steps/transport" && (sel.Sel.Name == "Act" || sel.Sel.Name == "Store"):
			found = append(found, use{writes, "steps/", line})
		case pkg == "handrail/steps/kube/act" && (sel.Sel.Name == "Send" || sel.Sel.Name == "Perform" || sel.Sel.Name == "NewSender"):
			found = append(found, use{sends, "steps/kube/change/", line})
		}
		return true
	})
	return found
}

// importNames maps the names that a file gives its imports to their paths.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, imp := range file.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = path
	}
	return names
}

func ident(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
