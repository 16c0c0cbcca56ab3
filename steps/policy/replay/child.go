package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"

	"handrail/steps/confined"
	"handrail/steps/fault"
	"handrail/steps/strict"
)

const mostErrors = 20 // of functions, that an answer lists

// Child is the process that judges, and returns its exit code.
func Child(stdin io.Reader, stdout io.Writer) int {
	var o Order
	var a Answer
	err := json.NewDecoder(stdin).Decode(&o)
	if err == nil {
		if err = confined.Confine(); err == nil {
			a, err = judged(o)
		}
	}
	if err != nil {
		a.Error = err.Error()
	}
	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		return 1
	}
	return 0
}

// judged evaluates the query. What the library panics on is an error.
func judged(o Order) (a Answer, err error) {
	defer fault.Into(&err)
	caps := Capabilities()
	version := ast.RegoV1
	if o.V0 {
		version = ast.RegoV0
	}
	modules, data := map[string]*ast.Module{}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		switch base := path.Base(name); {
		case strings.HasSuffix(base, "_test.rego"):
		case path.Ext(base) == ".rego":
			m, err := ast.ParseModuleWithOpts(name, string(o.Files[name]), ast.ParserOptions{RegoVersion: version, Capabilities: caps})
			if err != nil {
				return a, err
			}
			modules[name] = m
		case base == "data.json", base == "data.yaml", base == "data.yml":
			if err := place(data, path.Dir(name), name, o.Files[name]); err != nil {
				return a, err
			}
		default:
			a.Ignored = append(a.Ignored, name)
		}
	}
	a.Modules = len(modules)
	var input any
	if err := util.UnmarshalJSON(o.Input, &input); err != nil {
		return a, fmt.Errorf("the input is no JSON: %w", err)
	}
	eval := func(query string) (rego.ResultSet, error) {
		var failures []topdown.Error
		with := []func(*rego.Rego){
			rego.Query(query), rego.Input(input), rego.Time(o.Now), rego.SetRegoVersion(version), rego.Capabilities(caps),
			rego.Store(inmem.NewFromObject(data)), rego.BuiltinErrorList(&failures),
		}
		for _, name := range slices.Sorted(maps.Keys(modules)) {
			with = append(with, rego.ParsedModule(modules[name]))
		}
		set, err := rego.New(with...).Eval(context.Background()) // the process has a limit of time
		for _, f := range failures {
			if text := f.Error(); len(a.Builtins) < mostErrors && !slices.Contains(a.Builtins, text) {
				a.Builtins = append(a.Builtins, text)
			}
		}
		return set, err
	}
	if o.All {
		return a, a.failures(failing(modules, o.Query), eval)
	}
	if !defines(modules, o.Query) {
		a.NoRule = true
		return a, nil
	}
	set, err := eval(o.Query)
	switch {
	case err != nil:
		return a, err
	case len(set) == 0:
		a.Undefined = true
		return a, nil
	}
	a.Output, err = json.Marshal(map[string]any{"result": set})
	return a, err
}

// isFailure matches the names of the rules that conftest takes for failures.
var isFailure = regexp.MustCompile(`^(?:deny|violation)(?:_[a-zA-Z0-9]+)*$`)

// failing are the queries of those rules in the package of a query, in order.
func failing(modules map[string]*ast.Module, query string) []string {
	of := query[:strings.LastIndexByte(query, '.')]
	var out []string
	for _, m := range modules {
		if m.Package.Path.String() != of {
			continue
		}
		for _, r := range m.Rules {
			if name := string(r.Head.Name); isFailure.MatchString(name) && !slices.Contains(out, of+"."+name) {
				out = append(out, of+"."+name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// failures sets the output to what all of the queries say, as if one rule had said it. A rule that has no value says nothing.
func (a *Answer) failures(queries []string, eval func(string) (rego.ResultSet, error)) error {
	if len(queries) == 0 {
		a.NoRule = true
		return nil
	}
	all := []any{}
	for _, query := range queries {
		set, err := eval(query)
		if err != nil {
			return err
		}
		if len(set) == 0 {
			continue
		}
		said, is := set[0].Expressions[0].Value.([]any)
		if !is {
			return fmt.Errorf("%s is no set of messages, which conftest wants", query)
		}
		all = append(all, said...)
	}
	one := []any{map[string]any{"expressions": []any{map[string]any{"value": all, "text": queries[0]}}}}
	var err error
	a.Output, err = json.Marshal(map[string]any{"result": one})
	return err
}

// Capabilities are the functions that a policy may call here.
func Capabilities() *ast.Capabilities {
	caps := ast.CapabilitiesForThisVersion()
	caps.AllowNet = []string{}
	caps.Builtins = slices.DeleteFunc(caps.Builtins, func(b *ast.Builtin) bool {
		return b.Nondeterministic && b.Name != "time.now_ns" || b.Name == "json.match_schema" || b.Name == "json.verify_schema"
	})
	return caps
}

// defines says whether a module has the rule of the query.
func defines(modules map[string]*ast.Module, query string) bool {
	for _, m := range modules {
		for _, r := range m.Rules {
			if m.Package.Path.Extend(r.Head.Ref().GroundPrefix()).String() == query {
				return true
			}
		}
	}
	return false
}

// place puts a document of data below the names of its directory.
func place(data map[string]any, dir, name string, raw []byte) error {
	root, err := strict.Single(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var value any
	if err := root.Decode(&value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := util.RoundTrip(&value); err != nil { // numbers as the engine has them
		return fmt.Errorf("%s: %w", name, err)
	}
	if dir != "." {
		for _, word := range slices.Backward(strings.Split(dir, "/")) {
			value = map[string]any{word: value}
		}
	}
	more, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: the data of the top directory must be an object", name)
	}
	return merge(data, more, name)
}

var errTwice = errors.New("its data stands in another file too")

func merge(into, more map[string]any, name string) error {
	for key, value := range more {
		old, there := into[key]
		a, isA := old.(map[string]any)
		b, isB := value.(map[string]any)
		switch {
		case !there:
			into[key] = value
		case isA && isB:
			if err := merge(a, b, name); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s: %s: %w", name, key, errTwice)
		}
	}
	return nil
}
