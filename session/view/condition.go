package view

import (
	"regexp"
	"strconv"
	"strings"
)

// A condition of a runbook is an expression for its author. Who reads a gate gets it in
// words: each name by the title of its step, each operator as one would say it.

// spoken are the forms of expressions and what each says, in the order in which they
// are looked for.
var spoken = []struct {
	form *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`([\w.]+)\.exists\((\w+), !\(\w+ in ([\w.]+)\)\)`), "something of $1 is not among $3"},
	{regexp.MustCompile(`([\w.]+)\.exists\((\w+), \w+ in ([\w.]+)\)`), "something of $1 is among $3"},
	{regexp.MustCompile(`([\w.]+)\.all\((\w+), \w+ in ([\w.]+)\)`), "all of $1 is among $3"},
	{regexp.MustCompile(`([\w.]+)\.size\(\) > 0`), "$1 is not empty"},
	{regexp.MustCompile(`([\w.]+)\.size\(\) == 0`), "$1 is empty"},
	{regexp.MustCompile(`([\w.]+)\.size\(\)`), "the number of $1"},
	{regexp.MustCompile(`params\.(\w+) != ''`), "the parameter $1 is given"},
	{regexp.MustCompile(`params\.(\w+) == ''`), "the parameter $1 is not given"},
	{regexp.MustCompile(`params\.(\w+)`), "the parameter $1"},
	{regexp.MustCompile(` == \[\]`), " is empty"},
	{regexp.MustCompile(` != \[\]`), " is not empty"},
	{regexp.MustCompile(` == `), " is "},
	{regexp.MustCompile(` != `), " is not "},
	{regexp.MustCompile(` <= `), " is at most "},
	{regexp.MustCompile(` >= `), " is at least "},
	{regexp.MustCompile(` < `), " is less than "},
	{regexp.MustCompile(` > `), " is more than "},
	{regexp.MustCompile(`\s*&&\s*`), ", and "},
	{regexp.MustCompile(`\s*\|\|\s*`), ", or "},
	{regexp.MustCompile(`!`), "not "},
	{regexp.MustCompile(`'([^']*)'`), "$1"},
	{regexp.MustCompile(`"([^"]*)"`), "$1"},
}

// Condition says an expression of the runbook of a step in words.
func (s Snapshot) Condition(of, expr string) string { return s.name(of, Spoken(expr)) }

// Spoken says an expression in words, but for the names of steps.
func Spoken(expr string) string {
	expr = strings.Join(strings.Fields(expr), " ")
	for _, s := range spoken {
		expr = s.form.ReplaceAllString(expr, s.says)
	}
	return expr
}

var (
	// fails is why a step does not apply, or a gate is shut, where the runbook has no
	// words for it.
	fails = regexp.MustCompile(`(?s)^does not (?:hold|apply): (?:only where )?(.*)$`)
	// wants is the cure of a condition.
	wants = regexp.MustCompile(`(?s)^Make it true: (.*)$`)
	// given is a condition on nothing but a parameter.
	given = regexp.MustCompile(`^params\.(\w+) != ''$`)
	// unclear is a condition that could not be judged.
	unclear = regexp.MustCompile(`(?s)^the condition (".*") of \S+ is "\w+"$`)
)

// unspoken turns what is said of an expression into a sentence, "" for another text.
func unspoken(text string) string {
	if m := fails.FindStringSubmatch(text); m != nil {
		return "Only where " + Spoken(m[1]) + "."
	}
	if m := wants.FindStringSubmatch(text); m != nil {
		if g := given.FindStringSubmatch(strings.TrimSpace(m[1])); g != nil {
			return "Give the parameter " + g[1] + "."
		}
		return "Needed: " + Spoken(m[1]) + "."
	}
	if m := unclear.FindStringSubmatch(text); m != nil {
		if expr, err := strconv.Unquote(m[1]); err == nil {
			return "It is unknown whether " + Spoken(expr) + "."
		}
	}
	return ""
}

// Cure is what would meet a refusal of a step, in words; "" where the reason says it
// already.
func (s Snapshot) Cure(of, why, cure string) string {
	if f, w := fails.FindStringSubmatch(why), wants.FindStringSubmatch(cure); f != nil && w != nil && f[1] == w[1] && !meets.MatchString(cure) && !given.MatchString(w[1]) {
		return ""
	}
	return s.Words(of, cure)
}
