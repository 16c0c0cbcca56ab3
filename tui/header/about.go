package header

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// The line about the incident ends where the screen does. Whose rights an act would use is
// to stay on it: what is longer, and what each gate names again, yields to that.
const (
	mostDir   = 30 // the end of a directory tells one from another
	shortDir  = 16
	mostSpace = 20
	shortName = 20 // a cluster, where the line is full
	leastAs   = 20 // the end of a name, which tells one service account from another
)

// part is a key and its value on the line, or words that have no key.
type part struct {
	key, value string
	words      ink.Drawn
}

// parts are the line from the left.
type parts []part

// about is what the incident is about in w cells: module, cluster, who the API server says is
// asking, host.
func about(env *screen.Env, w int) ink.Drawn {
	th := &env.Theme
	var ps parts
	say := func(words ink.Drawn) {
		if words != "" {
			ps = append(ps, part{words: words})
		}
	}
	if d := env.Snap.State.Drill; d != "" {
		say(th.Accent.On(ink.Say("DRILL %s", d)))
	}
	for _, kv := range module(env) { // first: a narrow screen cuts the end
		ps = append(ps, part{key: kv.Key, value: kv.Value})
	}
	say(copyAge(env))
	say(atKeyboard(env))
	for _, kv := range env.Snap.Header {
		if own := space(env); kv.Key == "namespace" && own != "" {
			kv.Value = own
		}
		ps = append(ps, part{key: kv.Key, value: kv.Value})
	}
	if as := identity(env); as != "" {
		at := ps.find("host")
		if at < 0 {
			at = len(ps)
		}
		ps = slices.Insert(ps, at, part{key: asKey, value: as})
	}
	if len(ps) == 0 {
		say(th.Muted.On(ink.Shown(env.Snap.State.Incident)))
	}
	return ps.fitted(env, w).draw(env)
}

// asKey is the key of the identity.
const asKey = "as"

// identity is whom the API server knows, "" where none was asked.
func identity(env *screen.Env) (as string) {
	for _, who := range env.Snap.State.People {
		if who.Proof == "kube" {
			as = who.ID
		}
	}
	return as
}

// fitted has the identity in the first w cells. What yields is shortened, then stands behind
// it, and is cut first.
func (ps parts) fitted(env *screen.Env, w int) parts {
	if ps.find(asKey) < 0 {
		return ps
	}
	for _, yield := range []func(){
		func() { ps.shorten("dir", func(v string) string { return tail(v, shortDir) }) },
		func() { ps.behind("dir") },
		func() { ps.behind("namespace") },
		func() {
			ps.shorten("cluster", func(v string) string { return string(ink.Clip(ink.Shown(v), shortName)) })
		},
		func() { ps.end(env, w, leastAs) },
		func() { ps.behind("workspace") },
		func() { ps.end(env, w, leastAs) },
		func() { ps.behind("cluster") },
		func() { ps.end(env, w, 1) },
	} {
		if ps.room(env, w) >= 0 {
			break
		}
		yield()
	}
	return ps
}

// room is how many of w cells are free after the identity; below 0 it is cut. The mark of a
// cut stands apart from it.
func (ps parts) room(env *screen.Env, w int) int {
	at := ps.find(asKey)
	if at < len(ps)-1 && ink.Cells(ps.draw(env)) > w {
		w -= 2
	}
	return w - ink.Cells(ps[:at+1].draw(env))
}

func (ps parts) find(key string) int {
	return slices.IndexFunc(ps, func(p part) bool { return p.key == key })
}

func (ps parts) shorten(key string, to func(v string) string) {
	if at := ps.find(key); at >= 0 {
		ps[at].value = to(ps[at].value)
	}
}

// behind puts a part right after the identity.
func (ps parts) behind(key string) {
	from, to := ps.find(key), ps.find(asKey)
	if from < 0 || from > to {
		return
	}
	p := ps[from]
	copy(ps[from:to], ps[from+1:to+1])
	ps[to] = p
}

// end leaves the end of the identity that there is room for, unless that is shorter than least.
func (ps parts) end(env *screen.Env, w, least int) {
	at := ps.find(asKey)
	name := ink.Shown(ps[at].value)
	if most := ink.Cells(ink.Drawn(name)) + ps.room(env, w); most >= least {
		ps[at].value = string(ink.ClipStart(name, most))
	}
}

func (ps parts) draw(env *screen.Env) ink.Drawn {
	th := &env.Theme
	var out []string
	for _, p := range ps {
		if p.key != "" {
			p.words = th.Muted.On(ink.Shown(p.key)) + " " + th.Plain.On(ink.Shown(p.value))
		}
		out = append(out, string(p.words))
	}
	return ink.Drawn(strings.Join(out, string(th.Faint.On("  ·  "))))
}

// module is the root module that the incident is about, and its workspace, where its runbook
// is about one.
func module(env *screen.Env) []steps.KV {
	given := env.Snap.State.Params(env.Snap.State.Plan().Runbook)
	if !given["dir"].Known() || steps.Find(env.Snap.Header, "dir") != "" {
		return nil
	}
	find := func(key, param string) string {
		if v := steps.Find(env.Snap.Where, key); v != "" {
			return v
		}
		return told(given[param])
	}
	out := []steps.KV{{Key: "dir", Value: tail(find("directory", "dir"), mostDir)}}
	if space := find("workspace", "workspace"); space != "" && steps.Find(env.Snap.Header, "workspace") == "" {
		out = append(out, steps.KV{Key: "workspace", Value: string(ink.Clip(ink.Shown(space), mostSpace))})
	}
	return out
}

// space is the namespace that the incident is about, "" where its runbook was given none: that
// of the context holds then.
func space(env *screen.Env) string {
	return told(env.Snap.State.Params(env.Snap.State.Plan().Runbook)["namespace"])
}

// told is the text of a parameter, "" for one that was not given.
func told(v triage.Value) string {
	if !v.Known() {
		return ""
	}
	return v.Text()
}

// tail is the end of a path, from a folder on.
func tail(path string, most int) string {
	r := []rune(path)
	if len(r) <= most {
		return path
	}
	end := string(r[len(r)-most+1:])
	if i := strings.IndexByte(end, '/'); i > 0 {
		end = end[i:]
	}
	return "…" + end
}
