package gitops

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/steps"
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
