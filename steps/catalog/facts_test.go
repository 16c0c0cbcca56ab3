package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"handrail/steps/catalog"
)

// TestFactsAreDeclared reads what no test runs: each name under which a world sets
// a fact is one that a kind of it declares. The harness of each world holds what is run
// to the kind itself.
func TestFactsAreDeclared(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, k := range catalog.New().Kinds() {
		for _, f := range k.Facts {
			declared[path.Dir(k.Name)+" "+f.Name] = true
		}
	}
	seen := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		world := strings.Split(filepath.ToSlash(name), "/")[1]
		ast.Inspect(file, func(n ast.Node) bool {
			for _, fact := range factNames(n) {
				seen++
				if text, err := strconv.Unquote(fact.Value); err != nil || !declared[world+" "+text] {
					t.Errorf("%s sets the fact %s, which no kind of its world declares", files.Position(fact.Pos()), fact.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 300 {
		t.Errorf("%d facts are set (error %v): the test looks for the wrong calls", seen, err)
	}
}

// factNames are the names in f.Set("name", steps.BoolOf(…)) and f.Unknown(why, "name").
func factNames(n ast.Node) []*ast.BasicLit {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	var args []ast.Expr
	switch {
	case method.Sel.Name == "Set" && len(call.Args) == 2 && ofSteps(call.Args[1]):
		args = call.Args[:1]
	case method.Sel.Name == "Unknown" && len(call.Args) > 1 && !ofSteps(call):
		args = call.Args[1:]
	}
	var out []*ast.BasicLit
	for _, a := range args {
		if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			out = append(out, lit)
		}
	}
	return out
}

// ofSteps reports whether e is a call of a function of the package steps.
func ofSteps(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := fun.X.(*ast.Ident)
	return ok && (pkg.Name == "steps" || pkg.Name == "record")
}
