package gitops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

// How an object stands that comes of Git.
const (
	standsWanted = "as wanted"
	standsAbsent = "absent"
	standsOther  = "differs"
	standsIll    = "unhealthy"
	standsGoing  = "terminating"
	standsOpen   = "unknown"
)

// standing is one object and how it stands live.
type standing struct {
	name, is string
	what     string // more of it, "" for nothing
}

func (s standing) String() string { return strings.TrimSuffix(s.is+": "+s.what, ": ") }

// standingOf tells how one object of an application stands. What keeps it from its place comes before
// what it differs in.
func standingOf(a app.App, s *side3) standing {
	out := standing{name: s.name, is: standsWanted}
	says, what := ofController(a, cluster.Target{Resource: cluster.Resource{Group: s.of.Group, Kind: s.of.Kind}, Namespace: s.of.Namespace, Name: s.of.Name})
	failed := ""
	if says == steps.NodeFails {
		failed = what
	}
	if of, is := a.Failing(); failed == "" && is && of.Kind == s.of.Kind && of.Name == s.of.Name && of.Namespace == s.of.Namespace && (of.Group == s.of.Group || of.Group == "") {
		failed = a.Says
	}
	lines := []line(nil)
	if s.unread == "" {
		lines = s.lines()
	}
	ill := ""
	if s.actual != nil && s.live.Unstructured != nil {
		ill = strings.Join(troubles(s.live), "; ")
	}
	switch {
	case s.unserved:
		out.is, out.what = standsAbsent, s.unread
	case s.unread != "" && s.actual == nil:
		out.is, out.what = standsOpen, s.unread
	case s.actual == nil:
		out.is, out.what = standsAbsent, failed
	case s.live.Unstructured != nil && leaving(s.live) != "":
		out.is, out.what = standsGoing, leaving(s.live)
	case failed != "":
		out.is, out.what = standsIll, failed
	case ill != "":
		out.is, out.what = standsIll, ill
	case s.unread != "" || len(s.open()) > 0:
		out.is, out.what = standsOpen, cmp.Or(s.unread, strings.Join(s.open(), ", ")+" comes out otherwise at each rendering")
	case len(lines) > 0 && lines[0].at == whole:
		out.is, out.what = standsOther, "no longer wanted, and still there"
	case len(lines) > 0:
		out.is, out.what = standsOther, standingIn(lines)
	}
	out.what = steps.OneLine(out.what, 400)
	return out
}

// troubles are what an object says of itself that is wrong, as far as any object can be understood.
func troubles(o cluster.Object) []string {
	status, _ := o.Object["status"].(map[string]any)
	out := report.Troubles(status["conditions"], false)
	if phase, _ := status["phase"].(string); slices.Contains([]string{"Failed", "Lost", "Pending"}, phase) {
		out = append(out, "its phase is "+phase)
	}
	spec, _ := o.Object["spec"].(map[string]any)
	for _, of := range [][2]any{{spec["replicas"], status["readyReplicas"]}, {status["desiredNumberScheduled"], status["numberReady"]}} {
		want, _ := of[0].(int64)
		if have, _ := of[1].(int64); want > have && len(status) > 0 {
			out = append(out, fmt.Sprintf("%d of %d are ready", have, want))
		}
	}
	return out
}

// rung is how it stands on a ladder.
func (s standing) rung(from string) rung {
	r := rung{name: s.name, what: s.String(), from: []string{from}, state: map[string]string{standsWanted: steps.NodeFine, standsAbsent: steps.NodeFails,
		standsOther: steps.NodeDiffers, standsIll: steps.NodeFails, standsGoing: steps.NodeHeld, standsOpen: steps.NodeUnsure}[s.is]}
	if s.is == standsWanted {
		r.what = ""
	}
	return r
}

const (
	// mostRungs bounds the objects of one application that are drawn, those in trouble first.
	mostRungs = 40
	// mostFine bounds those of them that are as wanted.
	mostFine = 8
)

// tell says what the descent came to.
func (r *descent) tell() {
	apps, objects := map[string]string{}, map[string]string{}
	lists := map[string][]string{standsAbsent: {}, standsOther: {}, standsIll: {}, standsGoing: {}}
	open := ""
	var l ladder
	link, says, failing := app.LinkNone, "", ""
	for _, of := range r.found {
		apps[of.a.String()] = strings.TrimPrefix(lineOf(of.a), of.a.String()+" ")
		at := l.source(of.a, of.from)
		l.takes(at, r.path, of)
		below := l.application(of.a, at)
		for _, s := range of.stands {
			objects[s.name] = s.String()
			if _, listed := lists[s.is]; listed {
				lists[s.is] = append(lists[s.is], s.name)
			}
			if s.is == standsOpen {
				open = cmp.Or(open, s.name+": "+s.what)
			}
		}
		l.drop(of, below)
		fails, why := of.a.Link, of.a.Says
		if of.from.Fails != "" {
			fails, why = app.LinkSource, of.from.Fails
		}
		if fails != app.LinkNone {
			r.obs.Say(steps.Warning, "%s fails at %s: %s", of.a, fails, steps.OneLine(why, 600))
			if failing == "" {
				link, says, failing = fails, why, of.a.String()
			}
		}
	}
	if len(r.found) == 0 && r.miss != "" {
		r.obs.Summary = "What renders " + r.asked() + " is not known: " + report.Ended(steps.Clip(r.miss, 300))
		return
	}
	r.f.Set("exists", steps.BoolOf(len(r.found) > 0))
	if len(r.found) == 0 {
		r.obs.Summary = "No application renders " + r.asked() + "."
		return
	}
	r.f.Set("chain", steps.StringsOf(l.lines()))
	l.tell(r.f)
	r.f.Set("whole", steps.BoolOf(r.whole))
	r.f.Set("link", steps.EnumOf(string(link)))
	r.f.Set("says", steps.StringOf(steps.Clip(says, 2000)))
	for name, of := range map[string]string{"absent": standsAbsent, "differs": standsOther, "unhealthy": standsIll, "terminating": standsGoing} {
		switch {
		case open != "" || r.miss != "":
			r.f.Unknown(cmp.Or(r.miss, "not known of "+open), name)
		case len(lists[of]) > mostListed:
			r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(lists[of]), mostListed), name)
		default:
			r.f.Set(name, steps.StringsOf(lists[of]))
		}
	}
	if r.miss == "" && len(objects) <= mostListed {
		r.f.Set("applications", steps.TableOf(apps))
		r.f.Set("objects", steps.TableOf(objects))
	} else {
		r.f.Unknown(cmp.Or(r.miss, fmt.Sprintf("there are %d objects, and a fact holds %d", len(objects), mostListed)), "applications", "objects")
	}
	r.say(objects, lists, link, failing)
}

// asked names what was asked about.
func (r *descent) asked() string {
	if r.path == "" {
		return "it"
	}
	return fmt.Sprintf("%q", steps.Clip(r.path, 200))
}

// say gives the line for the call, and what is worth an eye.
func (r *descent) say(objects map[string]string, lists map[string][]string, link app.Link, failing string) {
	subject := r.found[0].a.String()
	if n := len(r.found); n > 1 {
		subject = fmt.Sprintf("%d applications", n)
	}
	if r.path != "" {
		subject = fmt.Sprintf("%q, rendered by %s", steps.Clip(r.path, 200), subject)
	}
	var parts []string
	for _, is := range []string{standsIll, standsAbsent, standsGoing, standsOther} {
		if n := len(lists[is]); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, is))
			for i, name := range lists[is] {
				if i == mostShown {
					r.obs.Say(steps.Warning, "%d more are %s.", n-mostShown, is)
					break
				}
				r.obs.Say(steps.Warning, "%s is %s", name, report.Ended(objects[name]))
			}
		}
	}
	say := fmt.Sprintf("%s, comes to %d objects", subject, len(objects))
	if len(parts) > 0 {
		say += ": " + strings.Join(parts, ", ")
	} else {
		say += ", none of which is known to be otherwise"
	}
	if link != app.LinkNone {
		say += fmt.Sprintf("; %s fails at %s", failing, link)
	}
	r.obs.Summary = say + "."
}

// takes says at the path of an application how it comes to the one that was asked for.
func (l ladder) takes(at, asked string, of fallen) {
	i := slices.IndexFunc(l, func(r rung) bool { return r.name == at })
	switch {
	case i < 0 || l[i].what != "" || asked == "" || slices.ContainsFunc(of.a.Sources, func(s app.Source) bool { return s.Dir() == asked }):
	case of.beside:
		l[i].what = "takes in " + asked
	default:
		l[i].what = "by " + asked
	}
}

// drop puts the objects of one application below it, those in trouble first.
func (l *ladder) drop(of fallen, below string) {
	sorted := slices.Clone(of.stands)
	rank := func(s standing) int {
		return slices.Index([]string{standsIll, standsAbsent, standsGoing, standsOther, standsOpen, standsWanted}, s.is)
	}
	slices.SortStableFunc(sorted, func(a, b standing) int { return rank(a) - rank(b) })
	fine, drawn := 0, 0
	for _, s := range sorted {
		if s.is == standsWanted {
			fine++
		}
		if drawn == mostRungs || s.is == standsWanted && fine > mostFine {
			break
		}
		drawn++
		l.add(s.rung(below))
	}
	state := steps.NodeFine
	if drawn < len(sorted) && sorted[drawn].is != standsWanted {
		state = steps.NodeUnsure
	}
	if n := len(sorted) - drawn; n > 0 {
		l.add(rung{name: fmt.Sprintf("%d more objects of %s", n, of.a), state: state, from: []string{below}})
	}
	if of.more > 0 {
		l.add(rung{name: fmt.Sprintf("%d objects of %s that come of other files", of.more, of.a), state: steps.NodeUnsure, what: "left out here", from: []string{below}})
	}
}

// lines are the ladder as text, each rung below what it comes from.
func (l ladder) lines() []string {
	g := steps.Graph{}
	for _, r := range l {
		g.Nodes = append(g.Nodes, steps.Node{Name: r.name, After: r.from})
	}
	var out []string
	for i, d := range g.Depths() {
		say := strings.Repeat("  ", d) + l[i].name
		if l[i].state != steps.NodeFine {
			say += " " + l[i].state
		}
		if l[i].what != "" {
			say += ": " + steps.OneLine(l[i].what, 300)
		}
		out = append(out, say)
	}
	return out
}
