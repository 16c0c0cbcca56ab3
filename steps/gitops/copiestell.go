package gitops

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/gitops/app"
)

// tell says what the copies come to.
func (r *copiesRun) tell() {
	names := []string{}
	for _, c := range r.copies {
		names = append(names, c.String())
	}
	r.f.Set("found", steps.StringsOf(names))
	r.tellSides()
	r.tellSame()
	r.tellSigned()
	r.choose()
	r.tellRight()
	r.tellWriters()
	r.tellApps()
	r.tellLoaded()
	r.findings()
	r.summary()
}

// tellSides says what each side has.
func (r *copiesRun) tellSides() {
	for _, side := range liveSides {
		c := r.at(side)
		if c == nil {
			r.f.Set(side, steps.StringOf(""))
			r.f.Unknown("there is no such copy", side+keysOf[0], side+keysOf[1])
			continue
		}
		r.f.Set(side, steps.StringOf(c.namespace))
		for i, key := range keysOf {
			r.f.Set(side+key, steps.StringOf(c.values[i]))
		}
	}
	git, why := r.git()
	for i, key := range keysOf {
		if why != "" {
			r.f.Unknown("what Git has is not known: "+why, sideGit+key)
		} else {
			r.f.Set(sideGit+key, steps.StringOf(git[i].text))
		}
		switch {
		case r.token == nil:
			r.f.Unknown(r.tokenless, sideToken+key)
		case r.token[i] == "":
			r.f.Unknown("the header of the token does not say", sideToken+key)
		default:
			r.f.Set(sideToken+key, steps.StringOf(r.token[i]))
		}
	}
}

// tellSame says whether the copies and Git have the same. Two that differ settle it, whatever is
// not known beside them.
func (r *copiesRun) tellSame() {
	git, why := r.git()
	for _, c := range r.copies {
		for i, v := range c.values {
			if v != r.copies[0].values[i] || why == "" && (!git[i].one || git[i].text != v) {
				r.f.Set("same", steps.BoolOf(false))
				return
			}
		}
	}
	if why != "" {
		r.f.Unknown("what Git has is not known: "+why, "same")
		return
	}
	r.f.Set("same", steps.BoolOf(true))
}

// oneOf is a value that several paths in Git have, or what each of them has.
type oneOf struct {
	text string
	one  bool
}

// git is what Git has for all copies that have an application; why says that it is not known
// whole.
func (r *copiesRun) git() (out [2]oneOf, why string) {
	by := [2]map[string][]string{{}, {}}
	for _, c := range r.copies {
		switch {
		case c.app == nil:
			continue
		case c.git.why != "":
			return out, c.app.Name + ": " + c.git.why
		}
		for i := range by {
			by[i][c.git.values[i]] = append(by[i][c.git.values[i]], c.git.path)
		}
	}
	for i, values := range by {
		switch len(values) {
		case 0:
			return out, "no application applies a copy"
		case 1:
			for text := range values {
				out[i] = oneOf{text, true}
			}
		default:
			var all []string
			for _, text := range slices.Sorted(maps.Keys(values)) {
				all = append(all, fmt.Sprintf("%s (%s)", shownOr(text), strings.Join(values[text], ", ")))
			}
			out[i] = oneOf{strings.Join(all, ", "), false}
		}
	}
	return out, ""
}

// shownOr is a value, or the word for none.
func shownOr(text string) string { return cmp.Or(text, "nothing") }

// tellSigned says which sides have what the token is signed with.
func (r *copiesRun) tellSigned() {
	git, why := r.git()
	for i, key := range keysOf {
		name := strings.TrimPrefix(key, "_") + "_as_signed"
		switch {
		case r.token == nil:
			r.f.Unknown(r.tokenless, name)
			continue
		case r.token[i] == "":
			r.f.Unknown("the header of the token does not say", name)
			continue
		case why != "":
			r.f.Unknown("what Git has is not known: "+why, name)
			continue
		}
		var same []string
		for _, side := range liveSides {
			if c := r.at(side); c != nil && c.values[i] == r.token[i] {
				same = append(same, side)
			}
		}
		if git[i].one && git[i].text == r.token[i] {
			same = append(same, sideGit)
		}
		r.f.Set(name, steps.StringsOf(same))
	}
}

// choose settles what is held right: what a person chose, side by side, or what the token is
// signed with.
func (r *copiesRun) choose() {
	from := [2]string{r.in.Text("alg_from"), r.in.Text("kid_from")}
	if from[0] == "" && from[1] == "" {
		if r.right, r.rightless = r.token, r.tokenless; r.right != nil && r.right[1] == "" {
			r.right, r.rightless = nil, "the header of the token names no key"
		}
		return
	}
	var out pair
	for i, side := range from {
		text, why := r.valueAt(side, i)
		if why == "" && text == "" {
			why = "the side " + side + " has no " + r.key(i)
		}
		if why != "" {
			r.rightless = why
			return
		}
		out[i] = text
	}
	r.right = &out
}

// valueAt is what a side has, and why that is not known.
func (r *copiesRun) valueAt(side string, i int) (text, why string) {
	switch side {
	case "":
		return "", "which " + r.key(i) + " is right was not chosen"
	case sideToken:
		if r.token == nil {
			return "", r.tokenless
		}
		return r.token[i], ""
	case sideGit:
		git, why := r.git()
		if why == "" && !git[i].one {
			why = "the paths in Git do not agree: " + git[i].text
		}
		return git[i].text, why
	}
	if c := r.at(side); c != nil {
		return c.values[i], ""
	}
	return "", "there is no copy " + side
}

// tellRight holds all sides against what is right.
func (r *copiesRun) tellRight() {
	names := []string{"right", "against_signed", "git_stale", "live_wrong"}
	if r.right == nil {
		r.f.Unknown("what is right is not known: "+r.rightless, names...)
		return
	}
	right, against, stale, wrong := []string{}, []string{}, []string{}, []string{}
	gitUnread := ""
	for i := range r.right {
		key := r.key(i)
		right = append(right, r.right[i]+" for "+key)
		if r.token != nil && r.token[i] != "" && r.token[i] != r.right[i] {
			against = append(against, fmt.Sprintf("%s was chosen for %s, and the token has %s", r.right[i], key, r.token[i]))
		}
		for _, c := range r.copies {
			if c.values[i] != r.right[i] {
				wrong = append(wrong, fmt.Sprintf("%s: %s for %s", c, shownOr(c.values[i]), key))
			}
			switch {
			case c.app == nil:
			case c.git.why != "":
				gitUnread = c.app.Name + ": " + c.git.why
			case c.git.values[i] != r.right[i]:
				stale = append(stale, fmt.Sprintf("%s (%s): %s for %s", c.git.path, c.app.Name, shownOr(c.git.values[i]), key))
			}
		}
	}
	r.f.Set("right", steps.StringsOf(right))
	r.f.Set("live_wrong", steps.StringsOf(wrong))
	if r.token == nil || slices.Contains(r.token[:], "") {
		r.f.Unknown("how a token is signed is not known: "+cmp.Or(r.tokenless, "its header names no key"), "against_signed")
	} else {
		r.f.Set("against_signed", steps.StringsOf(against))
	}
	switch {
	case gitUnread != "":
		r.f.Unknown("what Git has is not known: "+gitUnread, "git_stale")
	case r.appsOf != "":
		r.f.Unknown(r.appsOf, "git_stale")
	default:
		r.f.Set("git_stale", steps.StringsOf(stale))
	}
}

// tellWriters says who wrote the copies last.
func (r *copiesRun) tellWriters() {
	table, hand, unsaid := map[string]string{}, []string{}, ""
	var last time.Time
	for _, c := range r.copies {
		table[c.String()] = fmt.Sprintf("%s %s; %s %s", r.key(0), c.writers[0], r.key(1), c.writers[1])
		if c.writers[0] == c.writers[1] {
			table[c.String()] = "both " + c.writers[0].String()
		}
		own := false
		for i, w := range c.writers {
			if !w.known && c.values[i] != "" {
				unsaid = fmt.Sprintf("who wrote %s of %s is not recorded", r.key(i), c)
			}
			if w.byHand() {
				if own = true; w.at.After(last) {
					last = w.at
				}
			}
		}
		if own {
			hand = append(hand, c.String())
		}
	}
	r.f.Set("writers", steps.TableOf(table))
	switch {
	case len(hand) > 0 || unsaid == "":
		r.f.Set("by_hand", steps.StringsOf(hand))
	default:
		r.f.Unknown(unsaid, "by_hand")
	}
	if last.IsZero() {
		r.f.Unknown("no write by hand is recorded", "hand_at")
		return
	}
	r.f.Set("hand_at", steps.TimeOf(last))
}

// tellApps says how the copies are delivered, and who would write over them.
func (r *copiesRun) tellApps() {
	if r.appsOf != "" {
		names := []string{"apps", "running", "auto_sync", "taken_away", "out_of_reach", "revision", "settled", "since_sync"}
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

// tellSynced says whether the applications stand at one commit.
func (r *copiesRun) tellSynced() {
	commits, settled, ran := map[string]bool{}, true, true
	var ended time.Time
	for _, c := range r.copies {
		if c.app == nil {
			continue
		}
		a := *c.app
		commit := app.Commit(a.Tried)
		commits[commit] = true
		settled = settled && a.Sync == app.Synced && a.Health == app.Healthy && commit != "" && app.Commit(a.Applied) == commit && a.Operation.Phase == app.Succeeded
		ran = ran && !a.Operation.Ended.IsZero()
		if a.Operation.Ended.After(ended) {
			ended = a.Operation.Ended
		}
	}
	switch {
	case len(commits) == 0:
		r.f.Unknown("no application applies a copy", "revision", "settled", "since_sync")
		return
	case len(commits) > 1:
		r.f.Unknown("the applications compare with different commits: refresh them", "revision")
		settled = false
	default:
		for commit := range commits {
			r.f.Set("revision", steps.IdentOf(commit))
		}
	}
	r.f.Set("settled", steps.BoolOf(settled))
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
