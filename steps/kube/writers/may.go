package writers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/rbac"
	"handrail/steps/kube/report"
)

const (
	mayAccount  = `system:serviceaccount:[a-z0-9-]+:[a-z0-9.-]+|(serviceaccount/)?([a-z0-9-]+/)?[a-z0-9][a-z0-9.-]*|(user|group)/[A-Za-z0-9][A-Za-z0-9._:@/-]*`
	mayVerb     = `[a-z]+|\*`
	mayResource = cluster.ResourceName + `(/[a-z]+)?`
	mayRoleName = `(cluster)?role/[A-Za-z0-9][A-Za-z0-9._:-]*`
)

func mayFacts() []steps.Field {
	return []steps.Field{
		{Name: "allowed", Type: steps.Bool, Doc: "whether the account may: the word of the server, else what a binding grants; unknown where neither says so"},
		{Name: "by", Type: steps.Strings, Doc: "the bindings and roles that grant it; unknown where not all could be read"},
		{Name: "missing_role", Type: steps.Bool, Doc: "whether a binding of this account names a role that does not exist: the server takes such a binding without a word"},
		{Name: "bindings", Type: steps.Strings, Doc: "every binding of this account, whether or not it grants this"},
		{Name: "asked", Type: steps.Bool, Doc: "whether the server itself answered"},
		{Name: "would", Type: steps.Bool, Doc: "whether the rules of the named role grant it"},
		{Name: "rules", Type: steps.Strings, Doc: "what the named role grants, one line a rule: verbs, then resources"},
		{Name: "agree", Type: steps.Bool, Doc: "whether the server and the roles say the same; unknown where one of them could not be asked whole"},
	}
}

// mayWho is the account that a question is about.
type mayWho struct {
	user   string
	groups []string
	label  string
	ns     string // of a service account
	name   string
}

// parseMayAccount reads an account; a bare name is a service account of the
// namespace.
func parseMayAccount(text, namespace string) mayWho {
	account := func(ns, name string) mayWho {
		return mayWho{user: "system:serviceaccount:" + ns + ":" + name, groups: rbac.Groups(ns), label: "serviceaccount/" + ns + "/" + name, ns: ns, name: name}
	}
	switch rest, isUser := strings.CutPrefix(text, "user/"); {
	case isUser && !strings.HasPrefix(rest, "system:serviceaccount:"):
		return mayWho{user: rest, groups: []string{"system:authenticated"}, label: text}
	case isUser:
		text = rest
	}
	if group, ok := strings.CutPrefix(text, "group/"); ok {
		return mayWho{groups: []string{group, "system:authenticated"}, label: text}
	}
	if rest, ok := strings.CutPrefix(text, "system:serviceaccount:"); ok {
		ns, name, _ := strings.Cut(rest, ":")
		return account(ns, name)
	}
	text = strings.TrimPrefix(text, "serviceaccount/")
	if ns, name, ok := strings.Cut(text, "/"); ok {
		return account(ns, name)
	}
	return account(namespace, text)
}

// is reports whether a subject of a binding is this account, or a group of it.
func (w mayWho) is(s rbac.Subject) bool {
	switch {
	case w.name != "":
		return s.Holds(w.ns, w.name)
	case s.Kind == "User":
		return w.user != "" && s.Name == w.user
	case s.Kind == "Group":
		return slices.Contains(w.groups, s.Name)
	}
	return false
}

type mayProbe struct{ env steps.Env }

// mayRun is one question.
type mayRun struct {
	report.Report
	c      *cluster.Client
	who    mayWho
	verb   string
	of     rbac.Object
	facts  steps.Facts
	grants []string
	lost   []string // bindings of the account whose role does not exist
	own    []string
	unread []string
	role   mayNamed
}

// Probe implements steps.Prober.
func (p mayProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	base, sub, _ := strings.Cut(in.Text("resource"), "/")
	kind, err := c.Find(inner, base)
	if err != nil {
		return steps.Observation{}, err
	}
	ns := c.NamespaceOf(in)
	r := &mayRun{c: c, who: parseMayAccount(in.Text("account"), ns), verb: in.Text("verb"), facts: steps.NewFacts(mayFacts()),
		of: rbac.Object{Group: kind.Group, Resource: kind.Plural, Subresource: sub, Name: in.Text("name")}}
	if kind.Namespaced {
		r.of.Namespace = ns
	}
	r.Obs.Command = r.command(kind.String(), sub)
	r.role.name = in.Text("role")
	r.graph(inner)
	r.tellRole()
	granted, whole := len(r.grants) > 0, len(r.unread) == 0
	allowed, reason, err := r.ask(inner)
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	r.tell(allowed, granted, whole, reason, err)
	for _, why := range r.unread {
		r.Gap("not read: %s", why)
	}
	r.Obs.Findings = append(r.Obs.Findings, c.Warnings()...)
	r.Obs.Facts = r.facts.Rest("not read")
	return r.Obs, nil
}

func (r *mayRun) question() string {
	what := r.of.Resource
	if r.of.Group != "" {
		what += "." + r.of.Group
	}
	if r.of.Subresource != "" {
		what += "/" + r.of.Subresource
	}
	if r.of.Name != "" {
		what += " " + r.of.Name
	}
	if r.of.Namespace != "" {
		what += " in " + r.of.Namespace
	}
	return r.verb + " " + what
}

func (r *mayRun) command(kind, sub string) string {
	args := []string{"auth", "can-i", r.verb, kind}
	if r.of.Name != "" {
		args[len(args)-1] += "/" + r.of.Name
	}
	if sub != "" {
		args = append(args, "--subresource", sub)
	}
	if r.who.user == "" {
		return r.c.Kubectl(r.of.Namespace, append(args, "--as", "nobody", "--as-group", r.who.groups[0])...)
	}
	return r.c.Kubectl(r.of.Namespace, append(args, "--as", r.who.user)...)
}

// tell settles what the server and the roles say.
func (r *mayRun) tell(allowed, granted, whole bool, reason string, err error) {
	f := r.facts
	f.Set("asked", steps.BoolOf(err == nil))
	f.Set("by", steps.StringsOf(r.grants))
	f.Set("bindings", steps.StringsOf(r.own))
	if !whole {
		f.Unknown("not all roles and bindings could be read: "+r.unread[0], "by", "bindings")
	}
	switch {
	case len(r.lost) > 0:
		f.Set("missing_role", steps.BoolOf(true))
		for _, l := range r.lost {
			r.Obs.Say(steps.Critical, "%s. It grants nothing, and the server did not say so when it was created.", l)
		}
	case !whole:
		f.Unknown(r.unread[0], "missing_role")
	default:
		f.Set("missing_role", steps.BoolOf(false))
	}
	say := "may not"
	switch {
	case err == nil:
		f.Set("allowed", steps.BoolOf(allowed))
		if allowed {
			say = "may"
		}
		r.disagree(allowed, granted, whole, reason)
	case granted:
		f.Set("allowed", steps.BoolOf(true))
		f.Unknown("the server could not be asked: "+report.Why(err), "agree")
		r.Gap("the server could not be asked (%s); a binding grants it, and another authorizer could still refuse", report.Why(err))
		say = "may, by its roles,"
	default:
		why := "no binding that could be read grants it, and the server could not be asked, which has other ways to allow: " + report.Why(err)
		f.Unknown(why, "allowed")
		f.Unknown("the server could not be asked: "+report.Why(err), "agree")
		r.Obs.Say(steps.Warning, "No binding that could be read lets %s %s. An account that may create a SubjectAccessReview can ask the server.", r.who.label, r.question())
		say = "is not known to be allowed to"
	}
	r.Obs.Summary = fmt.Sprintf("%s %s %s.", r.who.label, say, r.question())
	if len(r.grants) > 0 {
		r.Obs.Say(steps.Info, "Granted by %s.", steps.Clip(strings.Join(r.grants, "; "), 400))
	} else if len(r.own) > 0 {
		r.Obs.Say(steps.Warning, "Its bindings grant other things: %s.", steps.Clip(strings.Join(r.own, "; "), 400))
	}
}

func (r *mayRun) disagree(allowed, granted, whole bool, reason string) {
	switch {
	case allowed && granted, !allowed && !granted && whole:
		r.facts.Set("agree", steps.BoolOf(true))
	case allowed && whole:
		r.facts.Set("agree", steps.BoolOf(false))
		r.Obs.Say(steps.Warning, "The server allows it and no role grants it: another authorizer does (%s). Repairing roles would change nothing.", steps.Clip(reason, 200))
	case !allowed && granted:
		r.facts.Set("agree", steps.BoolOf(false))
		r.Obs.Say(steps.Warning, "A role grants it and the server refuses: the role changed a moment ago, or another authorizer denies it. Read again.")
	default:
		r.facts.Unknown("not all roles and bindings could be read", "agree")
	}
}
