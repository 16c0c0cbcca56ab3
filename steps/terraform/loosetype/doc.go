// Package loosetype finds the inputs of modules whose type says nothing, and who
// uses them. It parses the configuration and evaluates nothing but literals.
//
// A loose input (any, map(any), or no type) does not fail later by itself: the
// tools check it during the plan. It fails at the apply where its value has a
// type that is only known then (jsondecode of a resource), and it does harm
// without any error where values of several types are made one: {a = {port =
// 443}, b = {port = "8443"}} in a map(any) turns every port into text, and a
// filter on port == 443 then destroys what it had made. What makes either likely
// raises the rank of an input.
package loosetype

// Input is an input that takes more than it says.
type Input struct {
	Module    string // as module.a.module.b, "" for the root
	Name      string
	Type      string // as it is written; "none" for no type
	At        string // file:line
	Rank      int
	Why       []string // what raised the rank
	Consumers []Use
	Mixed     []string // literal values of several types that would be made one
	Late      bool     // fed by a value whose type may be known at the apply alone
	Checked   bool     // has a validation block
}

// Use is a place that uses an input.
type Use struct {
	Module string
	At     string // file:line
	Of     string // the expression's names, as var.x["k"].port
	In     string // attribute that it stands in
	named  bool   // it names the key that is asked for
}

// Report is what was found.
type Report struct {
	Inputs  int // of all modules
	Root    int // of the root module
	Modules int
	Loose   []Input // highest rank first
	Gaps    []string
}

// Name is how the input is called from the root module.
func (i Input) String() string {
	if i.Module == "" {
		return "var." + i.Name
	}
	return i.Module + ".var." + i.Name
}
