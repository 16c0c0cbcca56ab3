package steps

import "slices"

// Output is a fact that a step of a runbook declares by itself, and how it is read
// from what its kind got. Exactly one of CEL and Regexp is set.
type Output struct {
	Field
	CEL    string
	Regexp string
}

// Outputs is how a kind reads the facts that a step declares.
type Outputs struct {
	Types []Type             // that such a fact may have
	Check func(Output) error // why a fact cannot be read as declared; an *OutputError where it knows the place
	Reads func(Env, []Output) Prober
}

// OutputError says where the expression of an output is wrong.
type OutputError struct {
	Line, Col int // in the expression, from 1 and 0
	Why       string
}

func (e *OutputError) Error() string { return e.Why }

// Telling is the kind as one step of it is: with the facts that the step declares.
func (k Kind) Telling(outs []Output) Kind {
	if k.Outputs == nil || len(outs) == 0 {
		return k
	}
	k.Facts = slices.Clone(k.Facts)
	for _, o := range outs {
		k.Facts = append(k.Facts, o.Field)
	}
	reads := k.Outputs.Reads
	k.Reads = func(e Env) Prober { return reads(e, outs) }
	return k
}

// Written is a parameter as its author wrote it, or one item of a list.
type Written struct {
	Text  string // ${…} as written, a plain ${ as $${
	Head  string // what stands before the first ${…}
	Fixed bool   // it has none
}

// With is what a step is given, as written, by parameter.
type With map[string][]Written

// Texts are the texts of one parameter.
func (w With) Texts(name string) []string {
	var out []string
	for _, one := range w[name] {
		out = append(out, one.Text)
	}
	return out
}

// Text is the text of one parameter, "" where it is not given.
func (w With) Text(name string) string {
	if texts := w.Texts(name); len(texts) > 0 {
		return texts[0]
	}
	return ""
}
