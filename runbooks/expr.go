package runbooks

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/strict"
)

// Limits of one expression: its length, and what judging it may cost. Two lists
// of two thousand addresses can still be compared with each other.
const (
	maxExpr = 2048
	maxCost = 5_000_000
)

// want says what the value of an expression is for.
type want int

const (
	wantBool  want = iota // a condition
	wantValue             // shown, or given to a parameter
)

// expr is one expression and where it stands.
type expr struct {
	src  string
	want want
	node *yaml.Node
	base int // of src in the text of node, in runes

	prog cel.Program // nil until compiled, and when that found a problem
	refs []string    // variables it depends on, in order
	typ  *cel.Type
}

// expr reads a scalar as a condition or a value; nil when n is nil or wrong.
func (r *reader) expr(n *yaml.Node, what string, w want) *expr {
	src := r.Text(n, what)
	if src == "" {
		return nil
	}
	return r.exprAt(n, src, 0, w)
}

func (r *reader) exprAt(n *yaml.Node, src string, base int, w want) *expr {
	line, col := r.locate(n, base)
	if strings.TrimSpace(src) == "" {
		r.FailAt(line, col, "as in ${facts.lock.id}; write $${ for a plain ${", "an empty expression")
		return nil
	}
	if len(src) > maxExpr {
		r.FailAt(line, col, "split it: a condition may stand in several requirements", "an expression of %d bytes, more than %d", len(src), maxExpr)
		return nil
	}
	e := &expr{src: src, want: w, node: n, base: base}
	r.book.exprs = append(r.book.exprs, e)
	return e
}

// variable is what an expression may name.
type variable struct {
	name  string // facts.lock.age
	step  string // bare id, "" for a parameter
	field steps.Field
}

// scope holds the variables of a runbook by name.
type scope struct {
	vars  map[string]variable
	names []string
}

func (s *scope) add(v variable) {
	if s.vars == nil {
		s.vars = map[string]variable{}
	}
	if _, ok := s.vars[v.name]; !ok {
		s.names = append(s.names, v.name)
	}
	s.vars[v.name] = v
}

// CELType is the type that a value has in expressions; text of every kind is a
// string.
func CELType(t steps.Type) *cel.Type {
	switch t {
	case steps.Bool:
		return cel.BoolType
	case steps.Int:
		return cel.IntType
	case steps.Duration:
		return cel.DurationType
	case steps.Time:
		return cel.TimestampType
	case steps.Strings:
		return cel.ListType(cel.StringType)
	case steps.Table:
		return cel.MapType(cel.StringType, cel.StringType)
	}
	return cel.StringType
}

// env is the language of the expressions of one runbook: typed dotted variables
// and the standard library. There is no map behind the dots, so has() cannot
// turn an unknown into false.
func (s *scope) env() (*cel.Env, error) {
	opts := make([]cel.EnvOption, 0, len(s.names)+1)
	opts = append(opts, cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(),
		cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals()))
	for _, n := range s.names {
		opts = append(opts, cel.Variable(n, CELType(s.vars[n].field.Type)))
	}
	return cel.NewEnv(opts...)
}

// compileAll compiles every expression of the book.
func (r *reader) compileAll() {
	if len(r.book.exprs) == 0 {
		return
	}
	env, err := r.book.scope.env()
	if err != nil {
		r.FailAt(1, 0, "", "declaring the variables: %v", err)
		return
	}
	for _, e := range r.book.exprs {
		r.compile(env, e)
	}
}

func (r *reader) compile(env *cel.Env, e *expr) {
	checked, issues := env.Compile(e.src)
	if issues.Err() != nil {
		for _, i := range issues.Errors()[:1] { // those after the first are mostly its echo
			line, col := r.locate(e.node, e.base+e.offset(i.Location.Line(), i.Location.Column()))
			msg, hint := celMessage(e.src, i.Message, r.book.scope)
			r.FailAt(line, col, hint, "expression %q: %s", e.src, msg)
		}
		return
	}
	w := &walker{reader: r, expr: e, info: checked.NativeRep().SourceInfo()}
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(w.visit))
	if w.bad {
		return
	}
	e.typ, e.refs = checked.OutputType(), w.refs
	if e.want == wantBool && !e.typ.IsExactType(cel.BoolType) {
		line, col := r.locate(e.node, e.base)
		r.FailAt(line, col, "compare it with something", "condition %q is %s, not true or false", e.src, article(typeName(e.typ)))
		return
	}
	prog, err := env.Program(checked, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(maxCost))
	if err != nil {
		line, col := r.locate(e.node, e.base)
		r.FailAt(line, col, "see github.com/google/cel-spec for the language", "expression %q: %v", e.src, err)
		return
	}
	e.prog = prog
}

// offset turns a line and column inside the expression, as CEL counts them, to
// an offset in runes; a dotted name counts from its beginning.
func (e *expr) offset(line, col int) int {
	src, off := []rune(e.src), 0
	for l := 1; l < line; l++ {
		i := slices.Index(src[off:], '\n')
		if i < 0 {
			break
		}
		off += i + 1
	}
	off = min(max(off+col, 0), len(src))
	if off < len(src) && src[off] == '.' {
		for off > 0 && (src[off-1] == '.' || src[off-1] == '_' || src[off-1] >= 'a' && src[off-1] <= 'z' ||
			src[off-1] >= '0' && src[off-1] <= '9') {
			off--
		}
	}
	return off
}

func typeName(t *cel.Type) string {
	switch {
	case t.IsExactType(cel.DurationType):
		return "duration"
	case t.IsExactType(cel.TimestampType):
		return "time"
	}
	return t.String()
}

// walker gathers what an expression depends on, and refuses literals outside
// the values of an enumeration and what would loosen the types.
type walker struct {
	*reader
	expr *expr
	info *ast.SourceInfo
	refs []string
	bad  bool
}

func (w *walker) refuse(id int64, hint, format string, args ...any) {
	loc := w.info.GetStartLocation(id)
	line, col := w.locate(w.expr.node, w.expr.base+w.expr.offset(loc.Line(), loc.Column()))
	w.FailAt(line, col, hint, format, args...)
	w.bad = true
}

func (w *walker) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		if _, ok := w.book.scope.vars[e.AsIdent()]; ok && !slices.Contains(w.refs, e.AsIdent()) {
			w.refs = append(w.refs, e.AsIdent())
		}
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case "dyn":
			w.refuse(e.ID(), "", "dyn() is not available: it would switch the type check off")
		case operators.Equals, operators.NotEquals:
			w.literals(call.Args()[0], call.Args()[1])
			w.literals(call.Args()[1], call.Args()[0])
		case operators.In:
			if l := call.Args()[1]; l.Kind() == ast.ListKind {
				w.literals(call.Args()[0], l.AsList().Elements()...)
			}
		}
	}
}

// literals checks texts that are compared with an enumeration.
func (w *walker) literals(of ast.Expr, with ...ast.Expr) {
	if of.Kind() != ast.IdentKind {
		return
	}
	v, ok := w.book.scope.vars[of.AsIdent()]
	if !ok || v.field.Type != steps.Enum {
		return
	}
	for _, l := range with {
		if l.Kind() != ast.LiteralKind {
			continue
		}
		s, ok := l.AsLiteral().(types.String)
		switch {
		case !ok || slices.Contains(v.field.Values, string(s)):
		case string(s) == "unknown":
			w.refuse(l.ID(), "an unknown value makes the expression unknown by itself",
				"%s is never 'unknown' in an expression", v.name)
		default:
			w.refuse(l.ID(), strict.Meant(string(s), v.field.Values), "%s is never %q", v.name, string(s))
		}
	}
}
