package iam

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// holds says whether a condition does, and what is not known ("Condition operators", "Multivalued context keys").
func (c Condition) holds(context map[string][]string, variables bool) (tri, string) {
	operator, set := c.Operator, ""
	if quantifier, rest, found := strings.Cut(operator, ":"); found {
		set, operator = quantifier, rest
	}
	operator, exists := strings.CutSuffix(operator, "IfExists")
	values, known := context[strings.ToLower(c.Key)]
	open := "the value of " + c.Key
	if operator == "Null" {
		if !known {
			return maybe, open
		}
		return of(slices.Contains(c.Values, fmt.Sprint(len(values) == 0))), ""
	}
	compare, negated, evaluated := comparison(operator)
	switch {
	case !evaluated || set != "" && set != "ForAnyValue" && set != "ForAllValues":
		return maybe, "the operator " + c.Operator
	case !known:
		return maybe, open
	case len(values) == 0:
		// An absent key fits only what is asked of those that exist, of all of none, or of none of them.
		return of(exists || set == "ForAllValues" || negated && set == ""), ""
	}
	wants, open := c.wants(operator, context, variables)
	if open != "" {
		return maybe, open
	}
	one := func(v string) bool {
		return slices.ContainsFunc(wants, func(want []symbol) bool { return compare(want, v) }) != negated
	}
	switch {
	case set == "ForAllValues":
		return of(!slices.ContainsFunc(values, func(v string) bool { return !one(v) })), ""
	case set == "ForAnyValue" || len(values) == 1:
		return of(slices.ContainsFunc(values, one)), ""
	}
	return maybe, "how several values of " + c.Key + " are taken for one"
}

// wants are the values of the policy. Variables stand for values in what compares texts and ARNs ("IAM policy elements: Variables and
// tags", Where you can use policy variables).
func (c Condition) wants(operator string, context map[string][]string, variables bool) (out [][]symbol, open string) {
	read := literal
	if strings.HasSuffix(operator, "Like") || strings.HasPrefix(operator, "Arn") {
		read = glob
	}
	for _, v := range c.Values {
		want := read(v)
		if variables && (strings.HasPrefix(operator, "String") || strings.HasPrefix(operator, "Arn")) {
			if want, open = filled(v, context, read); open != "" {
				return nil, open
			}
		}
		out = append(out, want)
	}
	return out, ""
}

// comparison is what an operator does with a value of the policy and one of the request, and whether it is the opposite of that.
func comparison(operator string) (compare func(want []symbol, is string) bool, negated, evaluated bool) {
	switch operator {
	case "StringEquals", "Bool", "ArnEquals", "ArnLike", "StringLike", "StringNotLike", "StringNotEquals", "ArnNotEquals", "ArnNotLike",
		"StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "IpAddress", "NotIpAddress":
	default: // numbers, dates and bytes
		return nil, false, false
	}
	negated = strings.Contains(operator, "Not")
	switch strings.Replace(operator, "Not", "", 1) {
	case "StringEqualsIgnoreCase", "Bool":
		return func(want []symbol, is string) bool {
			return !slices.Contains(want, nothing) && strings.EqualFold(text(want), is)
		}, negated, true
	case "ArnEquals", "ArnLike":
		return arnFits, negated, true
	case "IpAddress":
		return func(want []symbol, is string) bool { return within(text(want), is) }, negated, true
	}
	return match, negated, true
}

// text is a literal again.
func text(of []symbol) string {
	var b strings.Builder
	for _, s := range of {
		b.WriteRune(rune(s))
	}
	return b.String()
}

// arnFits matches each of the six parts of an ARN by itself.
func arnFits(pattern []symbol, arn string) bool {
	p, a := parts(pattern), strings.SplitN(arn, ":", 6)
	if len(p) != 6 || len(a) != 6 {
		return false
	}
	for i := range p {
		if !match(p[i], a[i]) {
			return false
		}
	}
	return true
}

// parts are the six of a pattern of an ARN.
func parts(pattern []symbol) (out [][]symbol) {
	for len(out) < 5 {
		i := slices.Index(pattern, ':')
		if i < 0 {
			break
		}
		out, pattern = append(out, pattern[:i]), pattern[i+1:]
	}
	return append(out, pattern)
}

// within reports whether an address is in a network, or is it.
func within(network, address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	if p, err := netip.ParsePrefix(network); err == nil {
		return p.Contains(a.Unmap())
	}
	n, err := netip.ParseAddr(network)
	return err == nil && n.Unmap() == a.Unmap()
}
