package iam

import (
	"net/netip"
	"slices"
	"strings"
)

// holds says whether a condition does, and what is not known ("Condition operators", "Multivalued context keys").
func (c Condition) holds(context map[string][]string) (tri, string) {
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
		return of(slices.Contains(c.Values, "true") == (len(values) == 0)), ""
	}
	compare, negated, evaluated := comparison(operator)
	switch {
	case !evaluated || set != "" && set != "ForAnyValue" && set != "ForAllValues":
		return maybe, "the operator " + c.Operator
	case slices.ContainsFunc(c.Values, func(v string) bool { return strings.Contains(v, "${") }):
		return maybe, "a policy variable in " + c.Key
	case !known:
		return maybe, open
	case len(values) == 0:
		// An absent key fits only what is asked of those that exist, of all of none, or of none of them.
		return of(exists || set == "ForAllValues" || negated && set == ""), ""
	}
	one := func(v string) bool {
		return slices.ContainsFunc(c.Values, func(want string) bool { return compare(want, v) }) != negated
	}
	switch {
	case set == "ForAllValues":
		return of(!slices.ContainsFunc(values, func(v string) bool { return !one(v) })), ""
	case set == "ForAnyValue" || len(values) == 1:
		return of(slices.ContainsFunc(values, one)), ""
	}
	return maybe, "how several values of " + c.Key + " are taken for one"
}

// comparison is what an operator does with a value of the policy and one of the request, and whether it is the opposite of that.
func comparison(operator string) (compare func(want, is string) bool, negated, evaluated bool) {
	equal := func(want, is string) bool { return want == is }
	switch operator {
	case "StringEquals", "Bool", "ArnEquals", "ArnLike", "StringLike", "StringNotLike", "StringNotEquals", "ArnNotEquals", "ArnNotLike",
		"StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "IpAddress", "NotIpAddress":
	default: // numbers, dates and bytes
		return nil, false, false
	}
	negated = strings.Contains(operator, "Not")
	switch strings.Replace(operator, "Not", "", 1) {
	case "StringEqualsIgnoreCase", "Bool":
		return strings.EqualFold, negated, true
	case "StringLike":
		return fits, negated, true
	case "ArnEquals", "ArnLike":
		return arnFits, negated, true
	case "IpAddress":
		return within, negated, true
	}
	return equal, negated, true
}

// arnFits matches each of the six parts of an ARN by itself.
func arnFits(pattern, arn string) bool {
	p, a := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(p) != 6 || len(a) != 6 {
		return false
	}
	for i := range p {
		if !fits(p[i], a[i]) {
			return false
		}
	}
	return true
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
