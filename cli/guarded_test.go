package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unguarded are the goroutines that may go without a guard, and why. A file may
// have as many as it has lines here.
var unguarded = []struct{ file, why string }{
	{"session/open.go", "every call that own takes is guarded by survived"},
	{"drills/stage/tofu.go", "it only waits for a process"},
	{"session/index/depot/store.go", "a timer that only cancels a context"},
	{"drills/bucket/serve.go", "it only looks whether a folder is there, and cancels a context"},
	{"drills/bucket/serve.go", "it only closes a server"},
	{"drills/bucket/standin.go", "it only closes a server"},
	{"drills/lab/gitops/controllers.go", "it only starts processes; the lab imports nothing of ours"},
	{"drills/lab/gobuild.go", "it only reads lines of the go command; the lab imports nothing of ours"},
	{"drills/lab/serve.go", "it only waits for a process"},
	{"drills/lab/up.go", "it only waits for a process"},
}

// TestGoroutinesAreGuarded: a panic in a goroutine without a guard is
// printed by the runtime, unredacted, and ends an act in the middle.
func TestGoroutinesAreGuarded(t *testing.T) {
	t.Parallel()
	seen, guardedOnes := map[string]int{}, 0
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		bare, held := goroutines(t, file, src)
		guardedOnes += held
		may := 0
		for _, u := range unguarded {
			if u.file == file {
				may++
			}
		}
		seen[file] = len(bare)
		if len(bare) > may {
			t.Errorf("%s starts a goroutine without `defer fault.To(…)` or `defer fault.Into(…)` among its first statements, at line %v", file, bare)
		}
	}
	for _, u := range unguarded {
		if seen[u.file] == 0 {
			t.Errorf("%s has no goroutine without a guard any more: take it out of the list", u.file)
		}
	}
	if guardedOnes < 10 {
		t.Errorf("only %d goroutines are guarded: the test looks for the wrong thing", guardedOnes)
	}
}

// goroutines returns the lines where a file starts a goroutine without a guard,
// and how many it starts with one.
func goroutines(t *testing.T, file string, src []byte) (bare []int, held int) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(at token.Pos, f ast.Expr) {
		if lit, ok := f.(*ast.FuncLit); ok && guarded(lit) {
			held++
			return
		}
		bare = append(bare, fset.Position(at).Line)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			judge(n.Pos(), n.Call.Fun)
		case *ast.CallExpr:
			// sync.WaitGroup, errgroup and the like; and timers, whose plain functions
			// are those that cancel a context.
			sel, ok := n.Fun.(*ast.SelectorExpr)
			switch {
			case !ok || len(n.Args) == 0:
			case slices.Contains([]string{"Go", "TryGo"}, sel.Sel.Name) && len(n.Args) == 1 && !winds(sel.X, n.Args[0]):
				judge(n.Pos(), n.Args[0])
			case sel.Sel.Name == "AfterFunc":
				if _, plain := n.Args[1].(*ast.Ident); !plain {
					judge(n.Pos(), n.Args[1])
				}
			}
		}
		return true
	})
	return bare, held
}

// winds reports whether x.Go(arg) winds a recorded incident to a place.
func winds(x, arg ast.Expr) bool {
	switch arg.(type) {
	case *ast.BasicLit, *ast.BinaryExpr: // a number
		return true
	}
	if sel, ok := x.(*ast.SelectorExpr); ok {
		x = sel.Sel
	}
	name, ok := x.(*ast.Ident)
	return ok && strings.EqualFold(name.Name, "tape")
}

// guarded reports whether a function defers a guard before it does anything.
func guarded(f *ast.FuncLit) bool {
	for _, s := range f.Body.List {
		d, ok := s.(*ast.DeferStmt)
		if !ok {
			return false
		}
		if sel, ok := d.Call.Fun.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "fault" {
				return true
			}
		}
	}
	return false
}

// TestUnguardedGoroutinesAreSeen proves that the test can fail.
func TestUnguardedGoroutinesAreSeen(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"go f()":                                                  1,
		"go func() { f() }()":                                     1,
		"go func() { defer wg.Done(); f() }()":                    1,
		"go func() { f(); defer fault.To(g) }()":                  1,
		"go func() { defer other.To(g); f() }()":                  1,
		"wg.Go(f)":                                                1,
		"s.work.Go(func() { f() })":                               1,
		"group.TryGo(func() error { return nil })":                1,
		"time.AfterFunc(d, func() { f() })":                       1,
		"context.AfterFunc(ctx, cancel)":                          0,
		"go func() { defer fault.To(g); f() }()":                  0,
		"go func() { defer wg.Done(); defer fault.To(g); f() }()": 0,
		"wg.Go(func() { defer fault.Into(&err); f() })":           0,
		"go func() { defer fault.To(g); go f() }()":               1,
	} {
		bare, _ := goroutines(t, "x.go", fmt.Appendf(nil, "package x\nfunc _() { %s }\n", body))
		if len(bare) != want {
			t.Errorf("%s: %d without a guard, want %d", body, len(bare), want)
		}
	}
}
