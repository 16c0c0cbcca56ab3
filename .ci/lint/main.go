// Lint finds errors that are dropped, errors compared with == and bodies of responses
// that are left open. It is a tool for go vet, which keeps what it found by package:
// a second run takes seconds.
//
//	go vet -vettool=bin/lint ./...
//
// An error that nothing can be done about is dropped in plain sight, with `_ =`. A
// deferred Close or Remove needs none, but for a file that is opened for writing and
// closed nowhere else: its last bytes may be lost without a word.
package main

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
	"golang.org/x/tools/go/ast/astutil"
)

func main() {
	unitchecker.Main(
		filtered(errcheck.Analyzer, func(pass *analysis.Pass, pos token.Pos) bool { return inTest(pass, pos) || harmless(pass, pos) }),
		filtered(bodyclose.Analyzer, inTest),
		errorlint.NewAnalyzer(),
	)
}

// filtered is an analyzer that keeps quiet about what is passed over.
func filtered(a *analysis.Analyzer, over func(*analysis.Pass, token.Pos) bool) *analysis.Analyzer {
	out := *a
	out.Run = func(pass *analysis.Pass) (any, error) {
		quiet := *pass
		quiet.Report = func(d analysis.Diagnostic) {
			if !over(pass, d.Pos) {
				pass.Report(d)
			}
		}
		return a.Run(&quiet)
	}
	return &out
}

func inTest(pass *analysis.Pass, pos token.Pos) bool {
	return strings.HasSuffix(pass.Fset.Position(pos).Filename, "_test.go")
}

// harmless is text for people, randomness, which ends the program rather than fail,
// and what is deferred but for the close of a file that is written.
func harmless(pass *analysis.Pass, pos token.Pos) bool {
	for _, file := range pass.Files {
		if pos < file.FileStart || file.FileEnd < pos {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(file, pos, pos)
		var deferred *ast.DeferStmt
		for _, n := range path {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch name := called(n); {
				case strings.HasPrefix(name, "fmt.Fprint"), name == "rand.Read":
					return true
				}
			case *ast.DeferStmt:
				deferred = n
			case *ast.FuncDecl, *ast.FuncLit:
				return deferred != nil && !written(n, deferred)
			}
		}
	}
	return false
}

// called is RECEIVER.NAME of a call as it stands, "" where that is no name.
func called(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		return x.Name + "." + sel.Sel.Name
	}
	return "." + sel.Sel.Name
}

// written says that a deferred Close is the only one of a file which this function
// opens for writing and does not sync.
func written(function ast.Node, deferred *ast.DeferStmt) bool {
	name, ok := strings.CutSuffix(called(deferred.Call), ".Close")
	if !ok || name == "" {
		return false
	}
	opened, safe := false, false
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if to, ok := n.Lhs[0].(*ast.Ident); ok && to.Name == name {
				if call, ok := n.Rhs[0].(*ast.CallExpr); ok {
					from := called(call)
					opened = opened || from == "os.Create" || from == "os.CreateTemp" || from == "os.OpenFile" && !readOnly(call)
				}
			}
		case *ast.CallExpr:
			safe = safe || n != deferred.Call && (called(n) == name+".Close" || called(n) == name+".Sync")
		}
		return true
	})
	return opened && !safe
}

// readOnly says that os.OpenFile opens for reading alone.
func readOnly(call *ast.CallExpr) bool {
	only := false
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "O_RDONLY" {
			only = true
		}
		return true
	})
	return only
}
