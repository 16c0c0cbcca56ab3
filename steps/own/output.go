package own

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"handrail/steps"
)

// Bounds of what is read from an answer: the answer, a text and a list of a fact, and
// what judging one expression may cost.
const (
	mostRead  = 4 << 20
	mostText  = 4 << 10
	mostItems = 500
	mostCost  = 2_000_000
	mostCEL   = 2048
)

// outputTypes are those that a declared fact may have. An ident is none of them:
// pattern redaction leaves it alone, and what a program prints is no one's to vouch for.
func outputTypes() []steps.Type {
	return []steps.Type{steps.Bool, steps.Int, steps.String, steps.Enum, steps.Duration, steps.Time, steps.Strings, steps.Table}
}

// checkOutput says why a fact cannot be read as it is declared.
func checkOutput(o steps.Output) error {
	if !slices.Contains(outputTypes(), o.Type) {
		return fmt.Errorf("a fact of a step cannot be of type %s", o.Type)
	}
	if o.Regexp != "" {
		_, _, err := compileRegexp(o)
		return err
	}
	_, err := compileCEL(o)
	return err
}

// compileRegexp compiles the expression of o, and says which group is meant: 0 for
// whether it matches.
func compileRegexp(o steps.Output) (re *regexp.Regexp, group int, err error) {
	if re, err = regexp.Compile(o.Regexp); err != nil {
		return nil, 0, fmt.Errorf("%q is not a regular expression: %w", o.Regexp, err)
	}
	group = re.SubexpIndex(o.Name)
	switch {
	case o.Type == steps.Table:
		return nil, 0, errors.New("a table is read with cel, not with a regular expression")
	case re.MatchString(""):
		return nil, 0, fmt.Errorf("%q matches an empty text: let it name a part of what is printed", o.Regexp)
	case group >= 0:
	case re.NumSubexp() == 1:
		group = 1
	case re.NumSubexp() == 0 && o.Type == steps.Bool:
		group = 0
	default:
		return nil, 0, fmt.Errorf("%q has %d groups: give it the one group that is the fact, or name it (?P<%s>…)", o.Regexp, re.NumSubexp(), o.Name)
	}
	return re, group, nil
}

// outputEnv is the language of the facts: one variable, and the standard library.
func outputEnv() (*cel.Env, error) {
	return cel.NewEnv(cel.Variable("doc", cel.DynType),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals()))
}

func compileCEL(o steps.Output) (cel.Program, error) {
	if len(o.CEL) > mostCEL {
		return nil, fmt.Errorf("an expression of %d bytes, more than %d", len(o.CEL), mostCEL)
	}
	env, err := outputEnv()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(o.CEL)
	if err := issues.Err(); err != nil {
		first := issues.Errors()[0]
		why, _, _ := strings.Cut(strings.TrimSuffix(first.Message, " (in container '')"), "\n")
		if strings.HasPrefix(why, "undeclared reference to") {
			why += ": a fact of a step is read from doc alone, as in doc.queue.depth"
		}
		return nil, &steps.OutputError{Line: first.Location.Line(), Col: first.Location.Column(), Why: why}
	}
	if !gives(ast.OutputType(), o.Type) {
		return nil, fmt.Errorf("it gives a %s, and the fact is declared as %s", ast.OutputType(), o.Type)
	}
	return env.Program(ast, cel.CostLimit(mostCost), cel.InterruptCheckFrequency(1000))
}

// gives reports whether a value of type t can become a fact of type want.
func gives(t *cel.Type, want steps.Type) bool {
	may := map[steps.Type][]*cel.Type{
		steps.Bool: {cel.BoolType}, steps.Int: {cel.IntType, cel.UintType, cel.DoubleType}, steps.String: {cel.StringType}, steps.Enum: {cel.StringType},
		steps.Duration: {cel.DurationType, cel.StringType}, steps.Time: {cel.TimestampType, cel.StringType},
		steps.Strings: {cel.ListType(cel.DynType)}, steps.Table: {cel.MapType(cel.DynType, cel.DynType)},
	}[want]
	return t.Kind() == types.DynKind || slices.ContainsFunc(may, func(m *cel.Type) bool { return m.Kind() == t.Kind() })
}

// readOutputs reads the declared facts from raw. What cannot be read as declared is
// unknown, and a gap says why.
func readOutputs(ctx context.Context, outs []steps.Output, as string, raw []byte, f steps.Facts) (gaps []string) {
	doc, docErr := any(nil), errors.New("not read yet")
	read := false
	for _, o := range outs {
		var v steps.Value
		var err error
		if o.Regexp != "" {
			v, err = matched(o, raw)
		} else {
			if !read {
				read = true
				doc, docErr = document(raw, as)
			}
			if err = docErr; err == nil {
				v, err = judged(ctx, o, doc)
			}
		}
		if err == nil {
			err = bounded(o, v)
		}
		if err != nil {
			why := steps.OneLine(err.Error(), 300)
			f.Unknown(why, o.Name)
			gaps = append(gaps, o.Name+": "+why)
			continue
		}
		f.Set(o.Name, v)
	}
	return gaps
}

// bounded refuses what is too long to be a fact, and what its enumeration does not know.
func bounded(o steps.Output, v steps.Value) error {
	items, longest := 1, 0
	switch o.Type {
	case steps.Strings:
		items = len(v.Strings())
		for _, s := range v.Strings() {
			longest = max(longest, len(s))
		}
	case steps.Table:
		items = len(v.Table())
		for k, s := range v.Table() {
			longest = max(longest, len(k), len(s))
		}
	default:
		longest = len(v.Text())
	}
	switch {
	case items > mostItems:
		return fmt.Errorf("%d items, more than the %d that a fact may have", items, mostItems)
	case longest > mostText:
		return fmt.Errorf("a text of %d bytes, more than the %d that a fact may have", longest, mostText)
	case o.Type == steps.Enum && !slices.Contains(o.Values, v.Text()):
		return fmt.Errorf("%q is none of its values", steps.Clip(v.Text(), 60))
	}
	return nil
}

func matched(o steps.Output, raw []byte) (steps.Value, error) {
	re, group, err := compileRegexp(o)
	if err != nil {
		return steps.Value{}, err
	}
	if o.Type == steps.Strings {
		list := []string{}
		for _, m := range re.FindAllSubmatch(raw, mostItems+1) {
			list = append(list, string(m[group]))
		}
		return steps.StringsOf(list), nil
	}
	m := re.FindSubmatch(raw)
	switch {
	case o.Type == steps.Bool && group == 0:
		return steps.BoolOf(m != nil), nil
	case m == nil:
		return steps.Value{}, fmt.Errorf("nothing matches %q", o.Regexp)
	}
	return steps.ParseValue(o.Type, string(m[group]))
}

func judged(ctx context.Context, o steps.Output, doc any) (steps.Value, error) {
	prog, err := compileCEL(o)
	if err != nil {
		return steps.Value{}, err
	}
	out, _, err := prog.ContextEval(ctx, map[string]any{"doc": doc})
	if err != nil {
		return steps.Value{}, err
	}
	return valueOf(o.Type, out)
}

// valueOf turns what an expression gave into a fact of type t, or says what it is
// instead.
func valueOf(t steps.Type, v ref.Val) (steps.Value, error) {
	switch v := v.(type) {
	case types.Bool:
		if t == steps.Bool {
			return steps.BoolOf(bool(v)), nil
		}
	case types.Int:
		if t == steps.Int {
			return steps.IntOf(int64(v)), nil
		}
	case types.Uint:
		if t == steps.Int && uint64(v) <= math.MaxInt64 {
			return steps.IntOf(int64(v)), nil
		}
	case types.Double:
		if d := float64(v); t == steps.Int && d == math.Trunc(d) && math.Abs(d) < 1<<53 {
			return steps.IntOf(int64(d)), nil
		}
	case types.Duration:
		if t == steps.Duration {
			return steps.DurationOf(v.Duration), nil
		}
	case types.Timestamp:
		if t == steps.Time {
			return steps.TimeOf(v.Time), nil
		}
	case types.String:
		switch t {
		case steps.String, steps.Enum, steps.Duration, steps.Time:
			return steps.ParseValue(t, string(v))
		}
	}
	switch t {
	case steps.Strings:
		if got, err := v.ConvertToNative(reflect.TypeFor[[]string]()); err == nil {
			return steps.StringsOf(got.([]string)), nil
		}
	case steps.Table:
		if got, err := v.ConvertToNative(reflect.TypeFor[map[string]string]()); err == nil {
			return steps.TableOf(got.(map[string]string)), nil
		}
	}
	return steps.Value{}, fmt.Errorf("it is a %s, and the fact is declared as %s", v.Type().TypeName(), t)
}

// spanUpTo refuses a duration that is not between nothing and most.
func spanUpTo(most time.Duration) func([]steps.Written) error {
	return func(w []steps.Written) error {
		if len(w) != 1 || !w[0].Fixed {
			return nil // another check says it
		}
		if d, err := time.ParseDuration(w[0].Text); err == nil && (d <= 0 || d > most) {
			return fmt.Errorf("%s is not between 1s and %s", w[0].Text, most)
		}
		return nil
	}
}
