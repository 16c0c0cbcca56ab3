package gitops

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/adopt"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/gitops/render"
	"handrail/steps/kube/report"
)

// mostRenderings bounds how often files are rendered to find out which of them has a field.
const mostRenderings = 20

// Adopted is what Git has to get, so that it has what is live of one application.
type Adopted struct {
	adopt.Change // its commit is the one that was rendered
	App          app.App
	Exists       bool
	Why          string   // why nothing could be made, "" where it could
	Unread       []string // objects of which a side is not known, with why
	Shared       []string // files of the change that stand outside of the application's own directory
	Ahead        int      // fields that Git moved, which are no part of it

	command string
	gaps    []string
	says    []steps.Finding
	target  fmt.Stringer
}

// adoption is the making of one.
type adoption struct {
	*desiredRun
	to       *Adopted
	files    map[string][]byte
	first    []map[string]any          // what the files make as they are
	live     map[string]map[string]any // by object and field; nil for what is gone
	rendered int                       // how often so far
}

// Adopt makes the change of Git that brings it to what is live of an application. It takes the parameters of gitops/desired,
// and writes nothing. Each field of the change is proven by rendering the changed files: it comes out as it is live, and nothing
// else changes. An application that is not there, and one of which nothing can be made, is no error.
func Adopt(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (Adopted, error) {
	r, t, err := sidesOf(ctx, env, in, out, false)
	if err != nil {
		return Adopted{}, err
	}
	to := Adopted{App: r.a, Exists: r.exists, Why: r.why, command: r.obs.Command, gaps: r.obs.Gaps, says: r.c.Warnings(), target: t}
	if where := r.a.Elsewhere(r.c.Server); r.exists && where != "" {
		to.Why = "what it has " + strings.TrimPrefix(inOther(where), "it ")
	}
	if !r.exists || to.Why != "" {
		return to, nil
	}
	a := &adoption{desiredRun: r, to: &to, live: map[string]map[string]any{}}
	to.Commit = r.wanted.Revision
	if edits := a.edits(); len(edits) > 0 {
		if err := a.prove(ctx, edits); err != nil {
			return Adopted{}, err
		}
	}
	slices.SortStableFunc(to.Left, func(x, y adopt.Left) int { return strings.Compare(x.Object+" "+x.At, y.Object+" "+y.At) })
	slices.SortStableFunc(to.Taken, func(x, y adopt.Field) int { return strings.Compare(x.Object+" "+x.At, y.Object+" "+y.At) })
	for _, f := range to.Files {
		if !manifests.Within(f.Path, r.a.Sources[0].Dir()) {
			to.Shared = append(to.Shared, f.Path)
		}
	}
	return to, nil
}

func (a *adoption) leave(object, at, format string, args ...any) {
	a.to.Left = append(a.to.Left, adopt.Left{Object: object, At: at, Why: fmt.Sprintf(format, args...)})
}

// edits are those of the fields that only the live side moved. What else the live side has otherwise is left.
func (a *adoption) edits() []adopt.Edit {
	var out []adopt.Edit
	for _, name := range slices.Sorted(maps.Keys(a.sides)) {
		s := a.sides[name]
		if s.unread != "" {
			a.to.Unread = append(a.to.Unread, name+": "+steps.Clip(report.Ended(s.unread), 300))
			continue
		}
		if open := s.open(); len(open) > 0 {
			a.to.Unread = append(a.to.Unread, steps.Clip(name+": "+strings.Join(open, ", ")+" comes out otherwise at each rendering", 300))
		}
		for _, l := range s.lines() {
			switch why := a.kept(s, l); {
			case l.moved == movedGit:
				a.to.Ahead++
			case why != "":
				a.leave(name, l.at, "%s", why)
			default:
				e, why := edit(s, l.at)
				if why != "" {
					a.leave(name, l.at, "%s", why)
					continue
				}
				if a.live[name] == nil {
					a.live[name] = map[string]any{}
				}
				a.live[name][l.at] = e.To
				out = append(out, e)
			}
		}
	}
	return out
}

// kept says why a field is not brought to Git, whatever its files have; "" where it may be.
func (a *adoption) kept(s *side3, l line) string {
	switch {
	case l.moved == movedBoth:
		return "Git changed it as well since it was applied: decide which of them stays"
	case l.moved == movedOpen:
		return "what was applied last is not known, so who changed it is not known either"
	case l.at == whole && l.actual == "none":
		return "it was deleted live: remove it from Git by hand, or let a sync bring it back"
	case l.at == whole:
		return "it is live, and Git does not have it: add it by hand, or delete it"
	case adopt.Unfit(adopt.Object{Group: s.of.Group, Kind: s.of.Kind}) != "":
		return adopt.Unfit(adopt.Object{Group: s.of.Group, Kind: s.of.Kind})
	case slices.Contains(a.encrypted, s.name):
		return "SOPS encrypted it in Git"
	case a.wanted.Tool == render.Helm:
		return "a chart makes it: change its values by hand"
	}
	return ""
}

// edit is the one that brings a field to Git. The sides as they are compared hide what looks like a secret; what is hidden in one of
// them is not brought.
func edit(s *side3, at string) (adopt.Edit, string) {
	e := adopt.Edit{Of: adopt.Object{Group: s.of.Group, Kind: s.of.Kind, Namespace: s.of.Namespace, Name: s.of.Name}, Object: s.name, At: at}
	plain, live := leaves(s.plain), leaves(s.live.Object)
	from, has := plain[at]
	to, there := live[at]
	if !same(from, leaves(s.desired)[at]) || !same(to, leaves(s.actual)[at]) {
		return e, "its value is hidden as a secret, and is not written to Git"
	}
	e.Path = adopt.Path(s.plain, at)
	if !has || e.Path == nil {
		return e, "its place cannot be told from another's"
	}
	e.From, e.To = from, to
	if !there {
		e.Gone, e.Path = true, adopt.Cut(s.live.Object, e.Path)
	}
	return e, ""
}

func adoptParams() []steps.Field {
	return cluster.ObjectParams(
		steps.Field{Name: "clone", Type: steps.Path, Doc: "a local clone of its repository that has the commit; it is read, and nothing of it runs or changes. Without it no patch is made"},
	)
}

func adoptFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the application is there"},
		{Name: "revision", Type: steps.Ident, Doc: "commit that the patch is made for"},
		{Name: "files", Type: steps.Strings, Doc: "files that it changes"},
		{Name: "shared", Type: steps.Strings, Doc: "those of them outside of the application's own directory: what else is made of them changes, too"},
		{Name: "fields", Type: steps.Strings, Doc: "fields that it brings, each as Git has it and as it is live"},
		{Name: "left", Type: steps.Strings, Doc: "what is live otherwise than Git has it and is not in the patch, with why"},
		{Name: "whole", Type: steps.Bool, Doc: "whether nothing is left: every field that the live side has otherwise is in the patch, or Git alone moved it"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the patch"},
		{Name: "branch", Type: steps.String, Doc: "name of the branch that forge/propose makes for it"},
	}
}

type adoptProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p adoptProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	a, err := Adopt(inner, p.env, in, out)
	if err == nil {
		err = turned()
	}
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	f := steps.NewFacts(adoptFacts())
	if !a.Exists {
		return report.Absent(a.target, a.command, f, a.says), nil
	}
	obs := steps.Observation{Command: a.command, Gaps: append(a.gaps, a.Unread...)}
	f.Set("exists", steps.BoolOf(true))
	if a.Why != "" {
		obs.Gaps = append(obs.Gaps, "no patch is made: "+a.Why)
		obs.Say(steps.Warning, "No patch is made: %s.", report.Ended(a.Why))
		obs.Summary = fmt.Sprintf("%s: no patch is made, since %s.", a.App, report.Ended(a.Why))
		obs.Findings = append(obs.Findings, a.says...)
		obs.Facts = f.Rest(a.Why)
		return obs, nil
	}
	obs.Command = "git -C " + steps.Quote(in.Text("clone")) + " apply < patch"
	a.facts(f)
	a.tell(&obs)
	if len(a.Files) > 0 {
		for role, text := range map[string]string{"patch": string(a.Patch()), "pull-request": a.Text(a.App.String())} {
			if gap := steps.Keep(out, role, steps.MediaText, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); gap != "" {
				obs.Gaps = append(obs.Gaps, gap)
			}
		}
	}
	obs.Findings = append(obs.Findings, a.says...)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// facts sets what is known. What a side is not known of may be left, or may not.
func (a Adopted) facts(f steps.Facts) {
	f.Set("revision", steps.IdentOf(app.Commit(a.Commit)))
	var files, fields, left []string
	for _, of := range a.Files {
		files = append(files, of.Path)
	}
	for _, of := range a.Taken {
		fields = append(fields, steps.Clip(of.String(), 400))
	}
	for _, of := range a.Left {
		left = append(left, steps.Clip(of.String(), 400))
	}
	for name, of := range map[string][]string{"files": files, "shared": a.Shared, "fields": fields, "left": left} {
		switch {
		case name == "left" && len(a.Unread) > 0:
			f.Unknown("not known of "+a.Unread[0], name)
		case len(of) > mostListed:
			f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(of), mostListed), name)
		default:
			f.Set(name, steps.StringsOf(of))
		}
	}
	switch {
	case len(a.Left) > 0:
		f.Set("whole", steps.BoolOf(false))
	case len(a.Unread) > 0:
		f.Unknown("not known of "+a.Unread[0], "whole")
	default:
		f.Set("whole", steps.BoolOf(true))
	}
	if digest := a.Digest(); digest != "" {
		f.Set("digest", steps.IdentOf(digest))
		f.Set("branch", steps.StringOf(a.Branch()))
	} else {
		f.Unknown("there is no patch", "digest", "branch")
	}
}

// tell says what is in the patch and what is not.
func (a Adopted) tell(obs *steps.Observation) {
	at := fmt.Sprintf("%s at %s", a.App, shortRevision(a.Commit))
	switch left := len(a.Left) + len(a.Unread); {
	case len(a.Files) == 0 && left == 0:
		obs.Summary = at + ": Git has what is live."
	case len(a.Files) == 0:
		obs.Summary = fmt.Sprintf("%s: no patch; fields that stay for a person: %d.", at, left)
	default:
		obs.Summary = fmt.Sprintf("%s: a patch is made. Files: %d; fields: %d; fields that stay for a person: %d.", at, len(a.Files), len(a.Taken), left)
	}
	if len(a.Files) > 0 {
		obs.Say(steps.Info, "The artifact patch is for git apply on %s. Rendered with it, exactly its fields come out otherwise, as they are live.", shortRevision(a.Commit))
	}
	for i, l := range a.Left {
		if i == mostShown {
			obs.Say(steps.Warning, "Not in the patch: %d more, which the facts list", len(a.Left)-mostShown)
			break
		}
		obs.Say(steps.Warning, "Not in the patch: %s", steps.OneLine(l.String(), 400))
	}
	if len(a.Shared) > 0 {
		obs.Say(steps.Warning, "Outside of the directory of the application: %s. What else is made of it changes, too.", steps.Clip(strings.Join(a.Shared, ", "), 400))
	}
	if a.Ahead > 0 {
		obs.Say(steps.Info, "Git moved %d fields that are not applied yet; they stay as Git has them.", a.Ahead)
	}
}
