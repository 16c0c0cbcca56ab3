package iam

import (
	"fmt"
	"slices"
	"strings"
)

// Request is what a caller asks for.
type Request struct {
	Principal string              // its ARN
	Action    string              // as s3:PutObject
	Resource  string              // its ARN
	Context   map[string][]string // keys of conditions that are known, in lower case; a key that is surely absent has no values
}

// Effect is what is decided.
type Effect string

// The effects. None is denied as well: nothing allows it.
const (
	Allow   Effect = "allow"
	Deny    Effect = "deny"
	None    Effect = "none"
	Unknown Effect = "unknown"
)

// Layer is where a policy hangs.
type Layer string

// The layers.
const (
	Identity Layer = "identity"
	Bucket   Layer = "resource"
)

// Decision is what the policies say, and by which statement.
type Decision struct {
	Effect Effect
	Layer  Layer  // of the statement that decides, "" where none does
	At     string // the statement, as a person finds it
	Why    string // what is not known, where the effect is unknown
}

// Place is a statement of a layer.
type Place struct {
	Layer     Layer
	Policy, N int // both counted from one
	Statement
}

func (p Place) String() string {
	if p.ID != "" {
		return fmt.Sprintf("%s policy %d, statement %d (%s)", p.Layer, p.Policy, p.N, p.ID)
	}
	return fmt.Sprintf("%s policy %d, statement %d", p.Layer, p.Policy, p.N)
}

// Places are all statements, those of the identity first.
func Places(identity, resource []Policy) (all []Place) {
	for _, of := range []struct {
		layer Layer
		list  []Policy
	}{{Identity, identity}, {Bucket, resource}} {
		for i, p := range of.list {
			for n, s := range p.Statements {
				all = append(all, Place{of.layer, i + 1, n + 1, s})
			}
		}
	}
	return all
}

// Decide says what the policies of an identity and of a resource say of a request.
func Decide(r Request, identity, resource []Policy) Decision {
	var allows, mayDeny, mayAllow *Place
	var denyWhy, allowWhy string
	for _, p := range Places(identity, resource) {
		is, why := p.matches(r, p.Layer)
		switch {
		case is == yes && p.Deny:
			return Decision{Effect: Deny, Layer: p.Layer, At: p.String()}
		case is == yes && allows == nil:
			allows = &p
		case is == maybe && p.Deny && mayDeny == nil:
			mayDeny, denyWhy = &p, why
		case is == maybe && !p.Deny && mayAllow == nil:
			mayAllow, allowWhy = &p, why
		}
	}
	switch {
	case allows == nil && mayAllow == nil:
		return Decision{Effect: None}
	case mayDeny != nil:
		return Decision{Effect: Unknown, Layer: mayDeny.Layer, At: mayDeny.String(), Why: denyWhy}
	case allows != nil:
		return Decision{Effect: Allow, Layer: allows.Layer, At: allows.String()}
	}
	return Decision{Effect: Unknown, Layer: mayAllow.Layer, At: mayAllow.String(), Why: allowWhy}
}

// tri is yes, no, or maybe.
type tri int

const (
	no tri = iota
	maybe
	yes
)

func (t tri) not() tri { return yes - t }

func of(is bool) tri {
	if is {
		return yes
	}
	return no
}

// matches says whether a statement is about a request, and what is not known.
func (s Statement) matches(r Request, layer Layer) (tri, string) {
	who := yes
	if layer == Bucket {
		if s.Principals == nil {
			return no, "" // a policy of a resource that names no one is about no one
		}
		who = s.about(r.Principal)
		if s.NotWho {
			if who = who.not(); who == no && s.Deny && !s.namesAccount(r.Principal) {
				who = maybe // its account is not spared, and may be denied with all that is in it
			}
		}
	}
	actions := of(slices.ContainsFunc(s.Actions, func(p string) bool { return fits(strings.ToLower(p), strings.ToLower(r.Action)) }))
	if s.NotActions {
		actions = actions.not()
	}
	over, why := s.over(r)
	is := min(who, actions, over)
	if is == no {
		return no, ""
	}
	switch {
	case who == maybe && s.NotWho:
		why = "whether an account is spared that NotPrincipal does not name, though it names the principal"
	case who == maybe:
		why = "whether the principal is meant"
	}
	for _, c := range s.Conditions {
		holds, open := c.holds(r.Context, s.Variables)
		if holds == no {
			return no, ""
		}
		if holds == maybe && why == "" {
			why = open
		}
		is = min(is, holds)
	}
	return is, why
}

// about reports whether a principal is among those that are named. An account stands for all of it, but in an Allow, which only
// lets the policies of its identities decide, and in a NotPrincipal, which spares those alone that it names ("NotPrincipal").
func (s Statement) about(principal string) tri {
	found := no
	account := accountOf(principal)
	for _, p := range s.Principals {
		switch {
		case p == "*" || p == principal:
			return yes
		case s.NotWho && account != "" && names(p, account) && !names(principal, account):
			continue // the account is spared, and the others in it are not
		case !s.Deny && !s.NotWho && account != "" && names(p, account):
			continue // it lets the policies of the account decide, and allows nothing by itself
		case account != "" && names(p, account):
			return yes
		case strings.Contains(principal, ":assumed-role/") && strings.Contains(p, ":role/"):
			// A session of that role, whose path its name does not tell.
			name := strings.Split(principal[strings.Index(principal, ":assumed-role/")+len(":assumed-role/"):], "/")[0]
			if p[strings.LastIndexByte(p, '/')+1:] == name {
				found = maybe
			}
		}
	}
	return found
}

// namesAccount reports whether the account of a principal is among those that are named, as a NotPrincipal with Deny has to
// ("NotPrincipal", Specifying NotPrincipal with Deny).
func (s Statement) namesAccount(principal string) bool {
	account := accountOf(principal)
	return account == "" || slices.ContainsFunc(s.Principals, func(p string) bool {
		return p == "*" || names(p, account)
	})
}

// names reports whether a principal of a policy is an account ("AWS JSON policy elements: Principal", AWS account principals).
func names(principal, account string) bool {
	return principal == account || strings.HasPrefix(principal, "arn:") && strings.HasSuffix(principal, ":iam::"+account+":root")
}

// accountOf is the account in an ARN, "" where it has none.
func accountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" {
		return ""
	}
	return parts[4]
}

// over reports whether the resource is one of the statement's, and what is not known. One that names none is over all.
func (s Statement) over(r Request) (tri, string) {
	if s.Resources == nil {
		return yes, ""
	}
	is, why := no, ""
	for _, p := range s.Resources {
		pattern, open := glob(p), ""
		if s.Variables {
			pattern, open = filled(p, r.Context, glob)
		}
		switch {
		case open != "":
			if is = max(is, maybe); why == "" {
				why = open + ", in its resource"
			}
		case match(pattern, r.Resource):
			is = yes
		}
	}
	if is != maybe {
		why = ""
	}
	if s.NotThese {
		is = is.not()
	}
	return is, why
}
