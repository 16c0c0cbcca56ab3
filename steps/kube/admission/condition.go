package admission

import (
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// Answer is what is known of a question.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

const (
	// mostCost bounds one expression, as the API server does (PerCallLimit).
	mostCost = 1_000_000
	// longestExpression bounds what is compiled.
	longestExpression = 16 << 10
)

// Inputs are what an expression may look at. What is nil in Values is null there;
// what Hidden names, by variable, is not known, with the reason.
type Inputs struct {
	Values map[string]any
	Hidden map[string]string
	// Partial says why a field that the object lacks may be there after all: the
	// server fills in defaults, and webhooks change it. "" where it is as stored.
	Partial string
	Sealed  bool // the values of the object are not known: it is a Secret
}

// result is what an expression came to.
type result struct {
	is  Answer
	why string // of Unknown, or of an expression that failed
	// failed says that the API server too comes to an error: failurePolicy decides.
	failed bool
	value  ref.Val
}

// environment is the part of the API server's environment for admission that is
// evaluated here. Its own libraries (authorizer, quantity, url, ip, cidr, format,
// semver, find) are not: an expression that uses one does not compile here, and is
// not known.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	opts := []cel.EnvOption{cel.OptionalTypes(), cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true), ext.Strings(ext.StringsVersion(2)), ext.Sets()}
	for _, name := range variables {
		opts = append(opts, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(opts...)
})

// variables are the names that an expression of admission may use.
var variables = []string{"object", "oldObject", "request", "params", "namespaceObject", "variables"}

// evaluate judges one expression that should be true or false.
func (in Inputs) evaluate(expression string) result {
	r := in.run(expression)
	if r.is != "" {
		return r
	}
	switch {
	case r.value.Type() != types.BoolType:
		return result{is: Unknown, why: "it is neither true nor false", failed: true}
	case r.value == types.True:
		return result{is: Yes}
	}
	return result{is: No}
}

// run evaluates an expression; Answer is "" where it has a value.
func (in Inputs) run(expression string) (r result) {
	defer func() {
		if p := recover(); p != nil { // a library that is given outside text
			r = result{is: Unknown, why: "it cannot be evaluated here"}
		}
	}()
	if len(expression) > longestExpression {
		return result{is: Unknown, why: "it is too long to be evaluated here"}
	}
	env, err := environment()
	if err != nil {
		return result{is: Unknown, why: err.Error()}
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		first, _, _ := strings.Cut(issues.Err().Error(), "\n")
		return result{is: Unknown, why: "it uses what is not evaluated here: " + clipped(strings.TrimPrefix(first, "ERROR: "))}
	}
	prog, err := env.Program(ast, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(mostCost), cel.InterruptCheckFrequency(1000))
	if err != nil {
		return result{is: Unknown, why: err.Error()}
	}
	known := map[string]any{}
	// Who sends the request is not known: it is rarely the one who asks here.
	patterns := []*cel.AttributePatternType{cel.AttributePattern("request").QualString("userInfo"), cel.AttributePattern("request").QualString("options"), cel.AttributePattern("request").QualString("uid")}
	if in.Sealed {
		for _, name := range []string{"object", "oldObject"} {
			patterns = append(patterns, cel.AttributePattern(name).QualString("data"), cel.AttributePattern(name).QualString("stringData"))
		}
	}
	for _, name := range variables {
		if _, hidden := in.Hidden[name]; hidden {
			patterns = append(patterns, cel.AttributePattern(name))
			continue
		}
		known[name] = in.Values[name]
	}
	vars, err := cel.PartialVars(known, patterns...)
	if err != nil {
		return result{is: Unknown, why: err.Error()}
	}
	out, _, err := prog.Eval(vars)
	if err != nil {
		if in.Partial != "" && strings.Contains(err.Error(), "no such key") {
			return result{is: Unknown, why: clipped(err.Error()) + ", and " + in.Partial}
		}
		return result{is: Unknown, why: clipped(err.Error()), failed: true}
	}
	if u, is := out.(*types.Unknown); is {
		return result{is: Unknown, why: in.missing(u)}
	}
	return result{value: out}
}

// missing says what an unknown result hangs on.
func (in Inputs) missing(u *types.Unknown) string {
	for _, id := range u.IDs() {
		trails, _ := u.GetAttributeTrails(id)
		for _, t := range trails {
			if why, ok := in.Hidden[t.Variable()]; ok {
				return t.Variable() + " is not known: " + why
			}
			switch {
			case t.Variable() == "request":
				return "it depends on who sends the request and how"
			case in.Sealed:
				return "the values of a Secret are not read"
			}
		}
	}
	return "it depends on what is not known"
}

// Conditions judges the match conditions of a webhook or a policy, as the API server
// does: one that is false takes the request out, whatever else fails; else one that
// fails leaves it to the failure policy.
func (in Inputs) Conditions(list []Condition) (is Answer, why string) {
	is = Yes
	for _, c := range list {
		r := in.evaluate(c.Expression)
		switch {
		case r.is == No:
			return No, fmt.Sprintf("its condition %s is false", c.Name)
		case r.failed && is != Unknown:
			is, why = Unknown, fmt.Sprintf("its condition %s fails: %s", c.Name, r.why)
		case r.is == Unknown && !r.failed:
			is, why = Unknown, fmt.Sprintf("its condition %s is not known: %s", c.Name, r.why)
		}
	}
	if is == Yes && in.Partial != "" && len(list) > 0 {
		why = "its conditions are true of the object as it was given; " + in.Partial
	}
	return is, why
}

// Validation is one expression of a policy that must be true.
type Validation struct {
	Expression string `json:"expression"`
	Message    string `json:"message"`
}

// Variable is an expression that others of the same policy use by its name.
type Variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// Judge evaluates what a policy demands: yes where it admits, no with the first
// demand that is not met, unknown where one could not be evaluated here.
func (in Inputs) Judge(vars []Variable, demands []Validation) (is Answer, why, rule string) {
	in = in.composed(vars)
	is = Yes
	for _, v := range demands {
		r := in.evaluate(v.Expression)
		switch {
		case r.is == No:
			why = v.Message
			if why == "" {
				why = "failed expression: " + v.Expression
			}
			return No, why, v.Expression
		case r.is == Unknown:
			is, why, rule = Unknown, r.why, v.Expression
			if r.failed {
				why = "its expression fails: " + why
			}
		}
	}
	return is, why, rule
}

// composed adds the variables of a policy, in their order. Where one has no value,
// no expression that uses any of them is judged.
func (in Inputs) composed(vars []Variable) Inputs {
	values, hidden := map[string]any{}, map[string]string{}
	for k, v := range in.Values {
		values[k] = v
	}
	for k, v := range in.Hidden {
		hidden[k] = v
	}
	got := map[string]any{}
	values["variables"] = got
	out := Inputs{Values: values, Hidden: hidden, Partial: in.Partial, Sealed: in.Sealed}
	for _, v := range vars {
		if _, lost := hidden["variables"]; lost {
			break
		}
		r := out.run(v.Expression)
		if r.is != "" {
			hidden["variables"] = fmt.Sprintf("variables.%s: %s", v.Name, r.why)
			break
		}
		got[v.Name] = r.value
	}
	return out
}
