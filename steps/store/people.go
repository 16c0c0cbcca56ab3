package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/store/iam"
)

const (
	mostPeople  = 50
	mostActions = 10
)

// nameForm is what a policy calls an identity: its ARN, or its name or access key on a store that has no ARNs.
const nameForm = `[A-Za-z0-9+=.@:/_-]{1,400}`

var nameIs = regexp.MustCompile(`^` + nameForm + `$`)

// people are identities, with what their own policies say.
type people struct {
	names   []string
	own     map[string][]iam.Policy
	lacking map[string]string // why the policies of one are not known
	known   map[string][]string
}

// peopleOf reads the identities of a step, and the policies that were saved of each: NAME.json or the *.json of NAME/ in a folder,
// by the last part of its name.
func peopleOf(env steps.Env, in steps.Params, out steps.Sink, obs *steps.Observation) (people, error) {
	p := people{own: map[string][]iam.Policy{}, lacking: map[string]string{}, known: known(in.Text("context"))}
	for _, name := range append(listed(in.Text("identities")), in.Text("writer"), in.Text("intended")) {
		if name = strings.TrimSpace(name); name == "" || slices.Contains(p.names, name) {
			continue
		}
		if !nameIs.MatchString(name) {
			return p, fmt.Errorf("%q is no name of an identity", steps.Clip(name, 100))
		}
		p.names = append(p.names, name)
	}
	switch {
	case len(p.names) == 0:
		return p, errors.New("no identity is named: give identities or writer")
	case len(p.names) > mostPeople:
		return p, fmt.Errorf("%d identities are named, and at most %d are evaluated", len(p.names), mostPeople)
	}
	folder := in.Text("identity_policies")
	docs := accessProbe{env}
	for _, name := range p.names {
		if in.Bool("bucket_only") {
			continue
		}
		if folder == "" {
			p.lacking[name] = "the policies of the identity were not given"
			continue
		}
		last := lastPart(name)
		if last == "." || last == ".." {
			return p, fmt.Errorf("%q names no file", name)
		}
		at := filepath.Join(folder, last)
		if _, err := os.Stat(steps.Below(env.Dir, at)); errors.Is(err, fs.ErrNotExist) {
			at += ".json"
		}
		if _, err := os.Stat(steps.Below(env.Dir, at)); errors.Is(err, fs.ErrNotExist) {
			p.lacking[name] = fmt.Sprintf("%s has no %s.json", folder, last)
			continue
		}
		list, _, err := docs.policies(at, "identity-"+last, out, obs)
		if err != nil {
			return p, fmt.Errorf("policies of %s: %w", name, err)
		}
		p.own[name] = list
	}
	return p, nil
}

// listed are names with commas between them.
func listed(text string) (out []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func lastPart(name string) string {
	return name[strings.LastIndexAny(name, "/:")+1:]
}

// decide says what one may do by its own policies and one of the bucket, nil for none.
func (p people) decide(name, action, resource string, bucket *iam.Policy) iam.Decision {
	r := iam.Request{Principal: name, Action: action, Resource: resource, Context: withPrincipal(p.known, name)}
	var of []iam.Policy
	if bucket != nil {
		of = []iam.Policy{*bucket}
	}
	d := iam.Decide(r, p.own[name], of)
	if why := p.lacking[name]; why != "" && d.Effect != iam.Deny { // whatever its own have, they take no Deny away
		return iam.Decision{Effect: iam.Unknown, At: "policies of " + name, Why: why}
	}
	return d
}

// withPrincipal adds to the keys of conditions that are known those that follow from who asks ("AWS global condition context keys",
// Properties of the principal). A user has both; of a session of a role the ARN is that of the role, which the session does not tell.
func withPrincipal(known map[string][]string, name string) map[string][]string {
	out := maps.Clone(known)
	set := func(key, value string) {
		if _, is := out[key]; !is {
			out[key] = []string{value}
		}
	}
	switch {
	case strings.Contains(name, ":user/"):
		set("aws:principalarn", name)
		set("aws:username", lastPart(name))
	case !strings.HasPrefix(name, "arn:"):
		set("aws:username", name)
	}
	return out
}

// effects are what each may do, by its name, and by which statement.
type effects struct {
	is, by map[string]string
	open   []string // each that is not known, with why
}

// effects evaluates one request for all.
func (p people) effects(ctx context.Context, action, resource string, bucket *iam.Policy) (effects, error) {
	e := effects{is: map[string]string{}, by: map[string]string{}}
	for _, name := range p.names {
		if err := ctx.Err(); err != nil {
			return e, err
		}
		d := p.decide(name, action, resource, bucket)
		e.is[name] = string(d.Effect)
		switch {
		case d.Effect == iam.Unknown:
			e.by[name] = d.At
			e.open = append(e.open, steps.Clip(name+": not known is "+d.Why, 400))
		case d.At == "":
			e.by[name] = "no statement allows it"
		default:
			e.by[name] = d.At
		}
	}
	return e, nil
}

// turned are those whom one policy lets do it and the other does not. What is not known on either side is in neither list.
func turned(was, now map[string]string, names []string) (lost, won []string) {
	allows := func(e string) bool { return e == string(iam.Allow) }
	denies := func(e string) bool { return e == string(iam.Deny) || e == string(iam.None) }
	for _, name := range names {
		switch {
		case allows(was[name]) && denies(now[name]):
			lost = append(lost, name)
		case denies(was[name]) && allows(now[name]):
			won = append(won, name)
		}
	}
	return lost, won
}
