// Package report writes what an incident came to, from its folded state alone.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/evidence/visible"
	"handrail/triage"
)

// Markdown writes one page: what happened, the conclusions, the facts, the
// gates with before and after, the debts, what could not be checked, and the
// timeline. Times are UTC. Everything from outside is made harmless and cannot
// act as markup.
func Markdown(w io.Writer, st triage.State) error {
	p := &page{w: bufio.NewWriter(w)}
	p.head(st)
	p.conclusions(st)
	p.gates(st)
	p.debts(st)
	p.facts(st)
	p.gaps(st)
	p.waivers(st)
	p.timeline(st)
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

type page struct {
	w   *bufio.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// row writes a line of a table; each cell is escaped here and nowhere else.
func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = text(c)
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

func (p *page) table(heads ...string) {
	p.line("")
	p.row(heads...)
	p.line("|%s", strings.Repeat(" --- |", len(heads)))
}

var markup = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "#", "\\#", "!", "\\!")

func text(s string) string { return markup.Replace(string(visible.Line(s))) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

func (p *page) head(st triage.State) {
	p.line("# %s", text(st.Title))
	p.line("")
	outcome := cmp.Or(st.Outcome, "still open, in phase "+string(st.Phase))
	p.line("Incident %s, runbook %s, severity %s: **%s**.", text(st.Incident), text(st.Plan().Runbook), st.Severity, text(outcome))
	if st.Drill != "" {
		p.line("This was a drill: %s.", text(st.Drill))
	}
	p.line("")
	p.line("Opened %s, last entry %s (%d).", stamp(st.Opened), stamp(st.Updated), st.Seq)
	if !st.Closed.IsZero() {
		p.line("Closed %s, after %s.", stamp(st.Closed), st.Closed.Sub(st.Opened).Round(time.Second))
	}
	p.line("")
	p.line("On the call:")
	for _, x := range st.People {
		p.line("- %s (%s by %s) %s", text(cmp.Or(x.Name, x.ID)), text(cmp.Or(x.Subject, x.ID)), text(x.Proof), text(strings.Join(x.Roles, ", ")))
	}
}

func (p *page) conclusions(st triage.State) {
	p.line("")
	p.line("## What was concluded")
	p.table("topic", "value", "proposed", "why", "entry")
	for _, t := range slices.Sorted(maps.Keys(st.Topics)) {
		c := st.Topics[t]
		value := c.Value
		if c.Provisional {
			value += " (provisional)"
		}
		why := c.Why
		if why == "" {
			why = strings.Join(c.Grounds, "; ")
		}
		if c.Contradicts != "" {
			why += " (the decision matrix expects " + c.Contradicts + ")"
		}
		p.row(string(t), value, c.Proposed, why, fmt.Sprint(c.Seq))
	}
}

func (p *page) gates(st triage.State) {
	p.line("")
	p.line("## Gates")
	if len(st.Gates) == 0 {
		p.line("")
		p.line("No gate was opened: nothing was changed through handrail.")
		return
	}
	for _, id := range slices.Sorted(maps.Keys(st.Gates)) {
		g := st.Gates[id]
		p.line("")
		p.line("### %s: %s", text(id), text(cmp.Or(string(g.Phase), "not opened")))
		p.line("")
		if g.Shown.Effect != "" {
			p.line("%s", text(g.Shown.Effect))
			p.line("")
			for _, d := range g.Shown.Diff {
				p.line("- rehearsed change: %s", text(d))
			}
			p.line("- request: %s", text(g.Shown.Request))
			p.line("- command: %s", text(g.Shown.Command))
			p.line("- digest: %s", text(g.Digest))
			p.line("- undo: %s", text(g.Shown.Undo))
		}
		if g.Why != "" {
			p.line("- closed: %s", text(g.Why))
		}
		for _, m := range g.Moved {
			p.line("- moved: %s", text(m))
		}
		if g.Response != "" {
			p.line("- answer: %s", text(g.Response))
		}
		p.sides(g.Before, g.After)
	}
}

// sides sets the target before the act beside the target after it.
func (p *page) sides(before, after []triage.KV) {
	if len(before)+len(after) == 0 {
		return
	}
	p.table("target", "before", "after")
	seen := map[string]bool{}
	for _, b := range before {
		seen[b.Key] = true
		p.row(b.Key, b.Value, value(after, b.Key))
	}
	for _, a := range after {
		if !seen[a.Key] {
			p.row(a.Key, "", a.Value)
		}
	}
}

func value(kvs []triage.KV, key string) string {
	for _, kv := range kvs {
		if kv.Key == key {
			return kv.Value
		}
	}
	return ""
}

func (p *page) debts(st triage.State) {
	p.line("")
	p.line("## Debts")
	if len(st.Debts) == 0 {
		p.line("")
		p.line("Nothing is owed.")
		return
	}
	p.table("debt", "what is owed", "settled", "by", "proof, date or reason")
	for _, d := range st.Debts {
		by := cmp.Or(d.Settled.Owner, d.Settled.Person)
		p.row(d.ID, d.Text, cmp.Or(d.Settled.How, "OPEN"), by, strings.Join(slices.DeleteFunc([]string{d.Settled.Proof, d.Settled.Until, d.Settled.Why}, func(s string) bool { return s == "" }), "; "))
	}
}

func (p *page) facts(st triage.State) {
	p.line("")
	p.line("## Facts")
	p.table("step", "fact", "value", "read at", "entry")
	for _, s := range st.Steps {
		if s.Answer != "" {
			p.row(s.ID, "answer", s.Answer+" ("+s.How+")", stamp(s.Ended), fmt.Sprint(s.EndSeq))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Facts)) {
			p.row(s.ID, name, Text(s.Facts[name]), stamp(s.Ended), fmt.Sprint(s.EndSeq))
		}
	}
}

// Text is the text of a stored value: unknown values say why.
func Text(v triage.Value) string {
	if !v.Known() {
		return "unknown: " + cmp.Or(v.Unknown, "not read")
	}
	return strings.Trim(string(v.V), `"`)
}

func (p *page) gaps(st triage.State) {
	var rows [][2]string
	for _, s := range st.Steps {
		for _, g := range s.Gaps {
			rows = append(rows, [2]string{s.ID, g})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.line("")
	p.line("## What could not be checked")
	p.table("step", "why")
	for _, r := range rows {
		p.row(r[0], r[1])
	}
}

func (p *page) waivers(st triage.State) {
	if len(st.Waivers) == 0 {
		return
	}
	p.line("")
	p.line("## Waivers")
	p.table("law", "subject", "by", "why", "recorded by", "at")
	for _, w := range st.Waivers {
		p.row(fmt.Sprint(w.Law), w.Subject, w.Person, w.Why, w.Actor, stamp(w.At))
	}
}

func (p *page) timeline(st triage.State) {
	p.line("")
	p.line("## Timeline")
	p.table("entry", "at", "who", "what")
	for _, m := range st.Timeline {
		p.row(fmt.Sprint(m.Seq), stamp(m.At), m.Actor, m.Text)
	}
}
