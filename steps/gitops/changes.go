package gitops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/kube/act"
	"handrail/steps/kube/change"
	"handrail/steps/kube/report"
)

// keyChanges is a digest of what a sync changes: a preview that has another one is another
// sync.
const keyChanges = "what it changes"

// changes are what a sync comes to, as far as Git was rendered.
type changes struct {
	rendered bool
	fields   int      // that are brought to what Git has
	back     int      // of them those that were changed live
	perhaps  int      // fields that were changed live and may be taken back
	pruned   []string // what is no longer in Git, and there
	untried  int      // objects that could not be rehearsed
	tried    int
	hooks    []string // that run
}

// effect is what is said of it to the person who confirms.
func (ch changes) effect() string {
	if !ch.rendered {
		return ""
	}
	say := fmt.Sprintf(" By Git it changes %d fields, %d of which were changed live and are taken back.", ch.fields, ch.back)
	if ch.perhaps > 0 {
		say += fmt.Sprintf(" %d more were changed live and may be taken back.", ch.perhaps)
	}
	if ch.untried > 0 {
		say += fmt.Sprintf(" %d objects could not be rehearsed.", ch.untried)
	}
	return say
}

// changesOf renders Git at the revision of a sync, and lets the server judge each object that
// is not as Git has it. What it refuses would leave the sync in the middle.
func changesOf(ctx context.Context, p change.Plan, a app.App, revision string) (changes, error) {
	r := &desiredRun{env: p.Client().Env, c: p.Client(), a: a, clone: p.Params().Text("clone"), out: p.Sink(), f: steps.NewFacts(desiredFacts()), sides: map[string]*side3{}}
	if r.clone == "" {
		p.Show("Git", "not rendered: no clone of its repository was named")
		return changes{}, nil
	}
	if where := a.Elsewhere(p.Client().Server); where != "" {
		p.Show("Git", "not compared: what a sync would change %s", strings.TrimPrefix(inOther(where), "it "))
		return changes{}, nil
	}
	if err := r.read(ctx); err != nil {
		return changes{}, err
	}
	switch {
	case r.why != "":
		p.Show("Git", "not rendered: %s", report.Ended(steps.OneLine(r.why, 400)))
		return changes{}, nil
	case r.wanted.Revision != revision: // another floor refuses that, too
		p.Show("Git", "not rendered: the source holds %s", shortRevision(r.wanted.Revision))
		return changes{}, nil
	}
	if a.Kind == "HelmRelease" {
		return upgraded(p, r), nil
	}
	ch := changes{rendered: true}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(r.sides)) {
		s := r.sides[name]
		if s.unread != "" {
			ch.untried++
			if s.unserved {
				p.Unmet("have its definition installed first, or brought by the same commit", "The API server serves no kind of %s, so the sync would stop there: %s", name, report.Ended(steps.Clip(s.unread, 300)))
			}
			p.Show("not known "+name, "%s", report.Ended(steps.Clip(s.unread, 300)))
			fmt.Fprintf(sum, "%q unread\n", name)
			continue
		}
		if s.unsaid != "" || len(s.varies) > 0 {
			ch.untried++
			p.Show("not known "+name, "its chart makes something else at each rendering, or asks the cluster: %s", report.Ended(cmp.Or(s.unsaid, strings.Join(few(slices.Sorted(maps.Keys(s.varies))), ", "))))
		}
		lines := s.lines()
		for _, l := range lines {
			fmt.Fprintf(sum, "%q %q %q %q\n", l.object, l.at, l.desired, l.actual)
		}
		if s.desired == nil && s.actual != nil {
			ch.pruned = append(ch.pruned, name)
			continue
		}
		if len(lines) == 0 || s.plain == nil {
			continue
		}
		if err := ch.rehearse(ctx, p, r, s, lines); err != nil {
			return ch, err
		}
	}
	for _, i := range r.hooks {
		of, _, _ := r.resourceOf(r.wanted.Objects[i]) // its name is said as Git has it
		ch.hooks = append(ch.hooks, of.String())
		fmt.Fprintf(sum, "hook %q\n", of)
	}
	p.Hold(keyChanges, hex.EncodeToString(sum.Sum(nil))[:12])
	return ch, nil
}

// upgraded is what an upgrade of a release comes to: what the chart makes now, held against Helm's record of the release
// in force. It is not rehearsed: the patch that Helm sends is made of its record, the chart and what is live, and not of
// the chart alone. What was changed live in a field that the chart leaves as it was is told and not counted: whether Helm
// takes it back depends on its version, and on how the release was applied first.
func upgraded(p change.Plan, r *desiredRun) changes {
	if r.release == nil {
		p.Show("Git", "not compared: Helm's record of the release in force could not be read")
		return changes{}
	}
	ch := changes{rendered: true}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(r.sides)) {
		s := r.sides[name]
		switch {
		case s.unread != "" || s.unsaid != "":
			ch.untried++
			why := s.unread + s.unsaid
			p.Show("not known "+name, "%s", report.Ended(steps.Clip(why, 300)))
			fmt.Fprintf(sum, "%q unread\n", name)
			continue
		case len(s.varies) > 0:
			ch.untried++
			p.Show("not known "+name, "its chart makes something else at each rendering: %s", strings.Join(few(slices.Sorted(maps.Keys(s.varies))), ", "))
		case s.desired == nil && s.recorded != nil && s.actual != nil:
			ch.pruned = append(ch.pruned, name)
		}
		var say, live []string
		for _, l := range s.lines() {
			fmt.Fprintf(sum, "%q %q %q %q\n", l.object, l.at, l.desired, l.actual)
			if l.moved == movedLive {
				ch.perhaps++
				live = append(live, fmt.Sprintf("%s is %s live, %s in the chart", l.at, steps.Clip(l.actual, 80), steps.Clip(l.desired, 80)))
				continue
			}
			ch.fields++
			text := fmt.Sprintf("%s %s -> %s", l.at, steps.Clip(l.actual, 80), steps.Clip(l.desired, 80))
			if l.moved == movedBoth {
				ch.back++
				text += " (changed live)"
			}
			say = append(say, text)
		}
		if len(say) > 0 {
			p.Show("change "+name, "%s", strings.Join(few(say), "; "))
		}
		if len(live) > 0 {
			p.Show("may go back "+name, "%s", strings.Join(few(live), "; "))
		}
	}
	for _, i := range r.hooks {
		of, _, _ := r.resourceOf(r.wanted.Objects[i])
		ch.hooks = append(ch.hooks, of.String())
		fmt.Fprintf(sum, "hook %q\n", of)
	}
	p.Hold(keyChanges, hex.EncodeToString(sum.Sum(nil))[:12])
	return ch
}

// notYours is a refusal of the account that asks, and not of what it asks for.
var notYours = regexp.MustCompile(`User "[^"]*" cannot [a-z]+ resource`)

// rehearse tries one object as its controller would apply it.
func (ch *changes) rehearse(ctx context.Context, p change.Plan, r *desiredRun, s *side3, lines []line) error {
	if ch.tried == mostCompared {
		ch.untried++
		ch.show(p, s, lines, nil, fmt.Sprintf("not rehearsed: %d were", mostCompared))
		return nil
	}
	ch.tried++
	req, err := applying(r.c, r.a, s)
	if err != nil {
		return err
	}
	answer, went, err := p.Rehearse(ctx, req)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		ch.untried++
		ch.show(p, s, lines, nil, "not rehearsed: "+report.Ended(steps.Clip(err.Error(), 300)))
	case !went: // something is unmet, which is shown
		ch.show(p, s, lines, nil, "")
	case answer.OK():
		o, err := cluster.ParseObject(answer.Body)
		if err != nil {
			return fmt.Errorf("%s: the answer to its rehearsal cannot be read: %w", s.name, err)
		}
		after, err := manifests.Hidden(o.Object, r.out)
		if err != nil {
			return err
		}
		ch.show(p, s, lines, after, "")
	case answer.Code == http.StatusForbidden && notYours.MatchString(answer.Said()):
		ch.untried++
		ch.show(p, s, lines, nil, "may not be tried with your account: "+report.Ended(answer.Said()))
	case answer.Code == http.StatusNotFound:
		ch.untried++
		ch.show(p, s, lines, nil, "what it stands on is not there yet: "+report.Ended(answer.Said()))
	default:
		ch.show(p, s, lines, nil, "refused")
		p.Unmet("repair it in Git, or the policy with its owner; where the account of the controller is exempt from that, use the controller's own tools",
			"The server refuses %s as Git has it, so the sync would stop there: %s", s.name, report.Ended(answer.Said()))
	}
	return nil
}

// show says what becomes of one object.
func (ch *changes) show(p change.Plan, s *side3, lines []line, after map[string]any, remark string) {
	p.Show("change "+s.name, "%s", ch.told(s, lines, after, remark))
}

// told counts what becomes of one object, and says it. after is what the server makes of it, nil where that
// is not known: a line that it does not bear out is noise.
func (ch *changes) told(s *side3, lines []line, after map[string]any, remark string) string {
	var say, noise []string
	now, then := leaves(s.actual), leaves(after)
	for _, l := range lines {
		was, there := now[l.at]
		becomes, stays := then[l.at]
		// A field that Git gave up goes by what was applied last, which a rehearsal does not know.
		if after != nil && s.actual != nil && l.desired != "none" && there == stays && (!there || alike(l.at, was, becomes)) {
			noise = append(noise, l.at)
			continue
		}
		ch.fields++
		text := fmt.Sprintf("%s %s -> %s", l.at, steps.Clip(l.actual, 80), steps.Clip(l.desired, 80))
		if l.moved == movedLive || l.moved == movedBoth {
			ch.back++
			text += " (changed live)"
		}
		say = append(say, text)
	}
	if after != nil && s.actual != nil {
		if more := beside(now, then, lines); len(more) > 0 {
			say = append(say, "and by defaults, webhooks and policies: "+strings.Join(few(more), ", "))
		}
	}
	if len(noise) > 0 {
		say = append(say, "noise, the server keeps what it has: "+strings.Join(few(noise), ", "))
	}
	if remark != "" {
		say = append([]string{remark}, say...)
	}
	return strings.Join(few(say), "; ")
}

// beside are the fields that become otherwise without a line of Git.
func beside(now, then map[string]any, lines []line) []string {
	var out []string
	for _, at := range slices.Sorted(maps.Keys(union(now, then))) {
		was, there := now[at]
		becomes, stays := then[at]
		switch {
		case left(at) || strings.HasPrefix(at, "metadata.managedFields") || at == "metadata.resourceVersion" || at == "metadata.generation":
		case slices.ContainsFunc(lines, func(l line) bool { return l.at == at }):
		case there != stays || there && !alike(at, was, becomes):
			out = append(out, at)
		}
	}
	return out
}

// few shortens a list for a line.
func few(of []string) []string {
	if len(of) > mostFields {
		return append(slices.Clone(of[:mostFields]), fmt.Sprintf("%d more", len(of)-mostFields))
	}
	return of
}

// managers are the names by which controllers apply.
var managers = map[app.Controller]string{app.ArgoCD: "argocd-controller", app.Flux: "kustomize-controller"}

// applying is the request by which an object would be applied: server-side, by the
// controller's name, over the fields of others.
func applying(c *cluster.Client, a app.App, s *side3) (act.Request, error) {
	kind, err := c.KindOf(s.version, s.of.Kind)
	if err != nil {
		return act.Request{}, err
	}
	body, err := act.Compact(s.plain)
	if err != nil {
		return act.Request{}, err
	}
	return act.Request{Method: http.MethodPatch, Path: kind.Path(s.of.Namespace, s.of.Name), Media: "application/apply-patch+yaml", Body: body,
		Query: url.Values{"fieldManager": {managers[a.Controller]}, "force": {"true"}}}, nil
}
