package gitops

import (
	"fmt"
	"strings"
	"time"

	"handrail/steps"
)

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
