package gitops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/gitops/app"
)

// tellApps says how the copies are delivered, and who would write over them.
func (r *copiesRun) tellApps() {
	if r.appsOf != "" {
		names := []string{"apps", "running", "auto_sync", "taken_away", "out_of_reach", "revision", "unsettled", "since_sync"}
		for _, side := range liveSides {
			names = append(names, side+"_app", side+"_app_namespace", side+"_paused")
		}
		r.f.Unknown(r.appsOf, names...)
		return
	}
	apps, running, auto, taken, out := map[string]string{}, map[string]string{}, map[string]string{}, []string{}, []string{}
	seen := map[string]string{} // UID of an application to its first copy
	for _, c := range r.copies {
		switch {
		case c.appless != "":
			out = append(out, c.String()+": "+c.appless)
		case seen[c.app.UID] != "":
			out = append(out, fmt.Sprintf("%s: %s applies %s as well, so that one sync is the sync of both", c, c.app, seen[c.app.UID]))
		case c.side == "":
			out = append(out, c.String()+": it is beyond the three that are gone through in turn")
		}
		if c.app == nil {
			apps[c.String()] = "none"
			continue
		}
		a := *c.app
		seen[a.UID] = cmp.Or(seen[a.UID], c.String())
		apps[c.String()] = a.String()
		auto[a.String()] = autoOf(a)
		if a.AutoSync && a.Suspension == nil {
			running[pathOf(a)] = a.UID
		}
		if since := byItself(a); !a.AutoSync && a.Suspension == nil && !since.IsZero() && !slices.Contains(taken, a.String()) {
			taken = append(taken, a.String())
		}
		if c.side != "" {
			r.f.Set(c.side+"_app", steps.StringOf(a.Name))
			r.f.Set(c.side+"_app_namespace", steps.StringOf(a.Namespace))
			r.f.Set(c.side+"_paused", steps.BoolOf(a.Suspension != nil))
		}
	}
	if len(r.copies) > 0 && r.at(sideIssuer) == nil {
		out = append(out, fmt.Sprintf("namespace %s, which issues the tokens, has no copy", r.in.Text("issuer")))
	}
	r.f.Set("apps", steps.TableOf(apps))
	r.f.Set("running", steps.TableOf(running))
	r.f.Set("auto_sync", steps.TableOf(auto))
	r.f.Set("taken_away", steps.StringsOf(taken))
	r.f.Set("out_of_reach", steps.StringsOf(out))
	r.tellSynced()
}

// autoOf says whether an application syncs by itself.
func autoOf(a app.App) string {
	switch s := a.Suspension; {
	case s != nil:
		return "off (" + s.How + "), " + sinceWhen(s)
	case a.AutoSync:
		return "on"
	}
	if at := byItself(a); !at.IsZero() {
		return "off: taken away after " + at.UTC().Format(time.RFC3339) + ", when it last synced by itself"
	}
	return "off: none is set up, and none is known to have been"
}

// byItself is when Argo CD last synced an application without a person, as far as it says.
func byItself(a app.App) (at time.Time) {
	for _, d := range a.History {
		if d.Auto && d.At.After(at) {
			at = d.At
		}
	}
	if op := a.Operation; op.Auto && op.Began.After(at) {
		at = op.Began
	}
	return at
}

// unsettledBy is what keeps an application from being settled, "" for nothing.
func unsettledBy(a app.App) string {
	commit := app.Commit(a.Tried)
	switch {
	case a.Operation.Phase != app.Succeeded:
		return "its last operation is " + cmp.Or(string(a.Operation.Phase), "none")
	case commit == "":
		return "it was compared with no commit"
	case app.Commit(a.Applied) != commit:
		return "the commit that it compares with was not synced yet"
	case a.Sync != app.Synced:
		return "not in sync with Git"
	case a.Health != app.Healthy:
		return "health " + string(cmp.Or(a.Health, app.HealthUnknown))
	}
	return ""
}

// tellSynced says whether the applications stand at one commit.
func (r *copiesRun) tellSynced() {
	commits, unsettled, ran := map[string]bool{}, []string{}, true
	var ended time.Time
	for _, c := range r.copies {
		if c.app == nil {
			continue
		}
		a := *c.app
		commit := app.Commit(a.Tried)
		commits[commit] = true
		if is := unsettledBy(a); is != "" {
			unsettled = append(unsettled, a.Name+": "+is)
		}
		ran = ran && !a.Operation.Ended.IsZero()
		if a.Operation.Ended.After(ended) {
			ended = a.Operation.Ended
		}
	}
	switch {
	case len(commits) == 0:
		r.f.Unknown("no application applies a copy", "revision", "unsettled", "since_sync")
		return
	case len(commits) > 1:
		r.f.Unknown("the applications compare with different commits: refresh them", "revision")
		unsettled = append(unsettled, "they compare with different commits")
	default:
		for commit := range commits {
			r.f.Set("revision", steps.IdentOf(commit))
		}
	}
	r.f.Set("unsettled", steps.StringsOf(unsettled))
	now, clockless := r.now()
	switch {
	case !ran:
		r.f.Unknown("an application has no operation that ended", "since_sync")
	case clockless != "":
		r.f.Unknown(clockless, "since_sync")
	default:
		r.f.Set("since_sync", steps.DurationOf(max(0, now.Sub(ended))))
	}
}

// youngToken is how old the file of a token may be: a token from before the change would prove
// what was right then.
const youngToken = 15 * time.Minute

// findings are what is worth an eye.
func (r *copiesRun) findings() {
	say := r.obs.Say
	for _, c := range r.copies {
		say(steps.Info, "%s has %s, %s; written: %s.", c, shownOr(c.values[0]), shownOr(c.values[1]), r.f.Got("writers").Table()[c.String()])
		switch {
		case c.app == nil:
		case c.git.why != "":
			say(steps.Warning, "What Git has for %s is not known: %s.", c, c.git.why)
		case c.git.values != c.values:
			say(steps.Warning, "Git has %s, %s for %s (%s, by %s): a sync writes that over it.", shownOr(c.git.values[0]), shownOr(c.git.values[1]), c, c.git.path, c.app.Name)
		}
	}
	switch {
	case r.token == nil:
		say(steps.Warning, "How a token is signed is not known: %s.", r.tokenless)
		return
	case strings.EqualFold(r.token[0], "none"):
		say(steps.Critical, "The token is not signed at all (alg none). No service may take it.")
	}
	r.tokenAge()
	if c := r.at(sideIssuer); c != nil && *r.token != c.values && r.token[1] != "" {
		why := "its Pods may hold an older copy, or the token is not of this issuer, or not of now"
		if c.loaded == loadedOld {
			why = "its Pods started before the copy was written"
		}
		say(steps.Warning, "The issuer signs with %s, %s, and its own copy has %s, %s: %s.", r.token[0], shownOr(r.token[1]), shownOr(c.values[0]), shownOr(c.values[1]), why)
	}
	for i, what := range []string{"algorithm", "key"} {
		name := strings.TrimPrefix(keysOf[i], "_") + "_as_signed"
		if v := r.f.Got(name); v.Known() && len(v.Strings()) == 0 {
			say(steps.Critical, "No side has the %s that the token is signed with, %s. Until it is known where that comes from, nothing here is right.", what, r.token[i])
		}
	}
}

// tokenAge says that the file of a token may be one from before the change.
func (r *copiesRun) tokenAge() {
	saved := r.f.Got("saved")
	now, clockless := r.now()
	if !saved.Known() || clockless != "" {
		return
	}
	if c := r.at(sideIssuer); c != nil {
		for _, w := range c.writers {
			if w.known && saved.Time().Before(w.at) {
				r.obs.Say(steps.Critical, "The token was saved at %s, before the copy of the issuer was written %s: have one issued now.", saved.Time().UTC().Format(time.RFC3339), w)
				return
			}
		}
	}
	if old := now.Sub(saved.Time()); old > youngToken {
		r.obs.Say(steps.Warning, "The token was saved %s ago: one that was issued now tells what is signed with now.", old.Round(time.Minute))
	}
}

// summary is the line for the call.
func (r *copiesRun) summary() {
	if len(r.copies) == 0 {
		r.obs.Summary = fmt.Sprintf("No ConfigMap has both %s and %s, in no namespace.", r.key(0), r.key(1))
		return
	}
	values := map[pair]bool{}
	for _, c := range r.copies {
		values[c.values] = true
	}
	git := "Git is not known"
	if stale := r.f.Got("git_stale"); stale.Known() {
		git = "Git agrees"
		if n := len(stale.Strings()); n > 0 {
			git = fmt.Sprintf("Git is stale in %d places", n)
		}
	}
	signed := "how a token is signed is not known"
	if r.token != nil {
		signed = "a token is signed with " + r.token[0] + ", " + shownOr(r.token[1])
	}
	r.obs.Summary = fmt.Sprintf("%d copies with %d different contents; %s; %s.", len(r.copies), len(values), signed, git)
}

// shownOr is a value, or the word for none.
func shownOr(text string) string { return cmp.Or(text, "nothing") }
