package iam

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// deviation is one thing in which a server does not do what AWS documents. It changes a request and the statements of its two
// layers so that our evaluation, which does as AWS, comes to what the server says.
type deviation struct {
	class  string
	change func(r *Request, own, of *[]Statement)
}

// server is what one of them deviates in, and what it refuses.
type server struct {
	layers  int // 1 for the policy of the identity alone
	differ  []deviation
	refuses []refusal
}

// refusal is a policy that AWS takes and the server does not.
type refusal struct {
	class string
	says  *regexp.Regexp
	has   func(Statement) bool // what one of the statements has then
}

var servers = map[string]server{
	"minio": {1, []deviation{
		{"list-has-slash", listHasSlash}, {"absent-is-empty", absentIsEmpty}, {"no-default", noDefault}, {"no-escape", noEscape}, {"case-of-NotAction", caseOfNotAction}, {"userid-is-name", useridIsName},
	}, []refusal{
		{"operator-refused", regexp.MustCompile(`^invalid condition name '(Arn|.*IfExists')`), func(s Statement) bool {
			return slices.ContainsFunc(s.Conditions, func(c Condition) bool {
				return strings.HasPrefix(c.Operator, "Arn") || strings.HasSuffix(c.Operator, "IfExists")
			})
		}},
		{"case-of-action-refused", regexp.MustCompile(`^unsupported action 's3:[a-z]+'`), func(s Statement) bool {
			return slices.ContainsFunc(s.Actions, func(a string) bool { return a == strings.ToLower(a) && !strings.Contains(a, "*") })
		}},
	}},
	"versitygw": {2, []deviation{
		{"bucket-knows-no-user", bucketKnowsNoUser}, {"bucket-fills-no-resource", bucketFillsNoResource}, {"no-NotPrincipal", noNotPrincipal},
		{"no-NotAction", noNotAction}, {"no-default", noDefault}, {"no-escape", noEscape}, {"star-in-key", starInKey},
	}, []refusal{
		{"NotResource-refused", regexp.MustCompile(`^MalformedPolicy Action does not apply to any resource`), func(s Statement) bool {
			return s.NotThese && s.Principals != nil
		}},
	}},
}

// class says how a result differs from our evaluation: "same", "not known" where ours does not decide, the deviation that explains
// it, or "" where none does.
func (v server) class(t *testing.T, r result) string {
	t.Helper()
	own, of := parsed(t, r.pair.identity)[0].Statements, parsed(t, r.pair.bucket)[0].Statements
	if v.layers == 1 {
		of = nil
	}
	if r.refused != "" {
		for _, x := range v.refuses {
			if x.says.MatchString(r.refused) && slices.ContainsFunc(slices.Concat(own, of), x.has) {
				return x.class
			}
		}
		return ""
	}
	decide := func(by ...deviation) Decision {
		request, own, of := r.pair.ask.request(), copied(own), copied(of)
		for _, d := range by {
			d.change(&request, &own, &of)
		}
		return Decide(request, []Policy{{own}}, []Policy{{of}})
	}
	fits := func(d Decision) bool { return d.Effect != Unknown && (d.Effect == Allow) == r.allowed }
	switch d := decide(); {
	case d.Effect == Unknown && strings.Contains(d.Why, "NotPrincipal"):
		return "not known"
	case d.Effect == Unknown:
		return "" // every key that the policies ask for is given
	case fits(d):
		return "same"
	}
	for _, d := range v.differ {
		if fits(decide(d)) {
			return d.class
		}
	}
	for i, d := range v.differ {
		for _, e := range v.differ[i+1:] {
			if fits(decide(d, e)) {
				return d.class + " and " + e.class
			}
		}
	}
	return ""
}

func copied(list []Statement) []Statement {
	out := slices.Clone(list)
	for i := range out {
		out[i].Resources, out[i].Conditions = slices.Clone(out[i].Resources), slices.Clone(out[i].Conditions)
		for j := range out[i].Conditions {
			out[i].Conditions[j].Values = slices.Clone(out[i].Conditions[j].Values)
		}
	}
	return out
}

// listHasSlash: a list is asked of BUCKET/ there, which BUCKET/* is about as well.
func listHasSlash(r *Request, own, _ *[]Statement) {
	if r.Action != "s3:ListBucket" {
		return
	}
	for i := range *own {
		with := *r
		with.Resource += "/"
		if s := &(*own)[i]; (Statement{Resources: s.Resources, Variables: s.Variables}).resourceIs(with) {
			s.Resources = append(s.Resources, r.Resource)
		}
	}
}

func (s Statement) resourceIs(r Request) bool {
	is, _ := s.over(r)
	return is == yes
}

// absentIsEmpty: a header that was not sent is there, and empty.
func absentIsEmpty(r *Request, _, _ *[]Statement) {
	if len(r.Context["aws:referer"]) == 0 {
		r.Context["aws:referer"] = []string{""}
	}
}

// useridIsName: the unique identifier of a user is its name.
func useridIsName(r *Request, _, _ *[]Statement) { r.Context["aws:userid"] = r.Context["aws:username"] }

var (
	withDefault = regexp.MustCompile(`\$\{[^}]*,[^}]*\}`)
	asEscape    = regexp.MustCompile(`\$\{([*?$])\}`)
)

// inTexts changes each resource and each value of a list of statements.
func inTexts(list []Statement, change func(string) string) {
	for i := range list {
		for j, v := range list[i].Resources {
			list[i].Resources[j] = change(v)
		}
		for _, c := range list[i].Conditions {
			for j, v := range c.Values {
				c.Values[j] = change(v)
			}
		}
	}
}

// noDefault: a variable with a default stands for itself.
func noDefault(_ *Request, own, of *[]Statement) {
	for _, list := range []*[]Statement{own, of} {
		inTexts(*list, func(v string) string {
			return withDefault.ReplaceAllStringFunc(v, func(is string) string { return "${$}" + is[1:] })
		})
	}
}

// noEscape: ${*} stands for itself, in which * is a wildcard.
func noEscape(_ *Request, own, of *[]Statement) {
	for _, list := range []*[]Statement{own, of} {
		inTexts(*list, func(v string) string { return asEscape.ReplaceAllString(v, "$${$$}{$1}") })
	}
}

// caseOfNotAction: the names of actions have a case there.
func caseOfNotAction(r *Request, own, _ *[]Statement) {
	for i := range *own {
		if s := &(*own)[i]; s.NotActions {
			s.Actions = slices.DeleteFunc(slices.Clone(s.Actions), func(p string) bool { return !fits(p, r.Action) })
		}
	}
}

// bucketKnowsNoUser: conditions of a policy of a bucket do not know who asks, nor do their variables.
func bucketKnowsNoUser(r *Request, _, of *[]Statement) {
	r.Context["not:known"] = []string{}
	for i := range *of {
		for j, c := range (*of)[i].Conditions {
			if key := strings.ToLower(c.Key); key == "aws:username" || key == "aws:principalarn" {
				(*of)[i].Conditions[j].Key = "not:known"
			}
			for k, v := range c.Values {
				c.Values[k] = strings.ReplaceAll(v, "${aws:username}", "${$}{aws:username}")
			}
		}
	}
}

// bucketFillsNoResource: a variable in a resource of a policy of a bucket stands for itself.
func bucketFillsNoResource(_ *Request, _, of *[]Statement) {
	for i := range *of {
		for j, v := range (*of)[i].Resources {
			(*of)[i].Resources[j] = strings.ReplaceAll(v, "${aws:", "${$}{aws:")
		}
	}
}

// noNotPrincipal: the element is not read, and a statement without a principal is about no one.
func noNotPrincipal(_ *Request, _, of *[]Statement) {
	*of = slices.DeleteFunc(*of, func(s Statement) bool { return s.NotWho })
}

// noNotAction: the element is not read, and a statement without an action is about none.
func noNotAction(_ *Request, _, of *[]Statement) {
	*of = slices.DeleteFunc(*of, func(s Statement) bool { return s.NotActions })
}

// starInKey: a * of a pattern that meets a * of the key stands for that one character there, and for no more.
func starInKey(r *Request, own, of *[]Statement) {
	if !strings.Contains(r.Resource, "*") {
		return
	}
	is := func(p string, variables bool) string {
		p = strings.ReplaceAll(p, "${aws:username}", r.Context["aws:username"][0])
		if p == "*" {
			p = "arn:aws:s3:::*"
		}
		switch {
		case !literalFirst(p, r.Resource):
			return "none"
		case variables:
			return strings.ReplaceAll(r.Resource, "*", "${*}")
		}
		return r.Resource
	}
	for _, list := range []*[]Statement{own, of} {
		for i := range *list {
			for j, p := range (*list)[i].Resources {
				(*list)[i].Resources[j] = is(p, (*list)[i].Variables)
			}
		}
	}
}

// literalFirst matches as versitygw does: a character that is the same before a wildcard that it may be.
func literalFirst(p, t string) bool {
	pi, ti, star, mark := 0, 0, -1, 0
	for ti < len(t) {
		switch {
		case pi < len(p) && (p[pi] == '?' || p[pi] == t[ti]):
			pi++
			ti++
		case pi < len(p) && p[pi] == '*':
			star, mark = pi, ti
			pi++
		case star >= 0:
			mark++
			pi, ti = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(p[pi:], "*") == ""
}
