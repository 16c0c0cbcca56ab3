package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/evidence/visible"
)

func latest(d Document) time.Time {
	if d.Closed.IsZero() {
		return d.Updated
	}
	return d.Closed
}

func (p *page) gates(d Document) {
	p.section("Gates")
	if len(d.Gates) == 0 {
		p.text("No gate was wanted.")
		return
	}
	for _, g := range d.Gates {
		p.gate(g)
	}
}

func (p *page) gate(g Gate) {
	p.heading("%s: %s", g.Title, visible.Text(strings.ToUpper(string(g.Phase))))
	p.text("Gate %s, class %s.", g.Step, g.Class)
	if g.Effect != "" {
		p.gap()
		p.add(QuoteBlock, spans("%s", g.Effect)...)
		p.gap()
	}
	p.item("shown", visible.Line(stamp(g.ShownAt)))
	p.item("acted", visible.Line(stamp(g.ActedAt)))
	if !g.ActedAt.IsZero() {
		p.item("by", visible.Line(string(g.Actor)+", as "+g.user()))
	}
	p.item("ended", visible.Line(stamp(g.EndedAt)))
	p.item("entries", visible.Line(strings.Trim(fmt.Sprint(g.Entries), "[]")))
	p.item("phrase", g.Phrase)
	p.item("digest of what was confirmed", g.Digest)
	p.item("undo", g.Undo)
	p.item("undo copy", g.UndoCopy)
	p.item("wider than needed, because", g.Widen)
	p.item("closed", g.closed())
	for _, m := range g.Moved {
		p.item("moved", m)
	}
	for _, o := range g.Owners {
		p.item("would undo it", visible.Line(string(o.What)+", "+string(o.Why)))
	}
	for _, a := range g.Approvals {
		p.item("approved by", a)
	}
	for _, s := range g.Shown {
		p.item(s.Key, s.Before)
	}
	if g.Command != "" {
		p.gap()
		p.text("Command:")
		p.fence("sh", g.Command)
	}
	if g.UndoCommand != "" {
		p.gap()
		p.text("Undo:")
		p.fence("sh", g.UndoCommand)
	}
	if g.Request != "" && g.Request != g.Command {
		p.gap()
		p.text("Request:")
		p.fence("text", g.Request)
	}
	if len(g.Diff) > 0 {
		p.gap()
		p.text("Rehearsed change:")
		p.fence("diff", visible.String(joined(g.Diff, "\n")))
	}
	if g.Response != "" {
		p.gap()
		p.text("Answer:")
		p.fence("text", g.Response)
	}
	if len(g.Items) > 0 {
		p.gap()
		p.table("object", "outcome", "what was found after it")
		for _, it := range g.Items {
			p.row(it.Object, it.Outcome, it.Response)
		}
	}
	if g.Again != "" {
		p.gap()
		p.text("Read again at %s, %s:", g.AgainAt.UTC().Format("15:04:05Z"), g.Again)
		p.fence("text", g.AgainSays)
	}
	if len(g.Verdicts) > 0 {
		p.gap()
		p.text("Conditions, as judged when it was shown:")
		p.gap()
		p.table("condition", "result", "why")
		for _, v := range g.Verdicts {
			p.row(v.Expr, v.Result, v.Why)
		}
	}
	p.sides(g)
	p.artifacts(g.Artifacts)
	p.gap()
}

// sides sets the target before the act beside the target after it.
func (p *page) sides(g Gate) {
	if len(g.Sides) == 0 {
		return
	}
	p.gap()
	if !g.HasAfter {
		p.table("target", "value")
		for _, s := range g.Sides {
			p.row(s.Key, s.Before)
		}
		return
	}
	p.table("target", "before", "after", "")
	for _, s := range g.Sides {
		mark := visible.Text("")
		before, after := cmp.Or(s.Before, "(empty)"), s.After
		switch {
		case s.Unread:
			after = "(not read again)"
		case s.Added:
			before = ""
		case s.Changed:
			mark = "changed"
		}
		p.row(s.Key, before, cmp.Or(after, "(empty)"), mark)
	}
}

func (p *page) facts(d Document) {
	p.section("Facts and their evidence")
	for _, s := range d.Steps {
		p.heading("%s", s.Title)
		about := spans("Step %s, %s in %s, %s", s.ID, cmp.Or(s.Uses, s.Kind), s.Phase, s.Status)
		if s.Entry > 0 {
			about = append(about, spans(", entry %d, %s", s.Entry, stamp(s.Ended))...)
		}
		if len(s.Covers) > 0 {
			about = append(about, spans(", covers %s", visible.Line(joined(s.Covers, " ")))...)
		}
		p.add(TextBlock, append(about, spans(".")...)...)
		if s.Summary != "" {
			p.gap()
			p.add(QuoteBlock, spans("%s", s.Summary)...)
		}
		if s.Answer != "" {
			p.gap()
			p.text("Answer: **%s**. %s", s.Answer, s.How)
		}
		if s.Command != "" {
			p.gap()
			p.text("To see it again:")
			p.fence("sh", s.Command)
		}
		if s.Drawing != "" {
			p.fence("", s.Drawing)
		}
		p.matrix(s.Compared)
		if len(s.Facts) > 0 {
			p.gap()
			p.table("fact", "value")
			for _, f := range s.Facts {
				value := f.Value
				if !f.Known {
					value = visible.Line("unknown: " + string(f.Value))
				}
				p.row(f.Name, value)
			}
		}
		p.artifacts(s.Artifacts)
		p.gap()
	}
}

// mostArtifacts is how many files of one step are named; a watch has one for each sample.
const mostArtifacts = 6

func (p *page) artifacts(list []Artifact) {
	if len(list) > 0 {
		p.gap()
	}
	for i, a := range list {
		if i == mostArtifacts {
			p.add(ItemBlock, spans("and %d more in the bundle", len(list)-i)...)
			return
		}
		file := spans("%s (%s, %d bytes", a.Role, a.Media, a.Size)
		if a.Truncated {
			file = append(file, spans(", cut")...)
		}
		if a.Redacted != "" {
			file = append(file, spans(", redacted: %s", a.Redacted)...)
		}
		p.add(ItemBlock, append(file, spans(", entry %d): sha256 %s", a.Entry, a.SHA256)...)...)
	}
}

func (p *page) verification(d Document) {
	p.section("Verification")
	v := d.Verification
	if v == nil {
		p.text("This page was written without a verification. Ask the bundle itself:")
		p.fence("sh", visible.Line("handrail bundle verify "+string(d.Incident)))
		return
	}
	verdict := "Verified: every property below was proven"
	switch {
	case !v.OK:
		verdict = "**NOT verified**: a bundle that fails any check proves nothing"
	case v.Unproven > 0:
		verdict = "Verified: nothing failed; only the bundle itself vouches for what is unproven"
	}
	p.text(verdict+", over %d entries. The page itself proves nothing: verify the bundle it was made from.", v.Entries)
	p.gap()
	p.table("property", "verdict", "detail")
	for _, c := range v.Checks {
		say := c.Verdict
		if say != "ok" && say != "unproven" {
			say = "FAILED"
		}
		p.row(c.Property, say, c.Detail)
	}
	p.gap()
	p.add(ItemBlock, spans("head: %s", v.Head)...)
	p.add(ItemBlock, spans("Merkle root: %s", v.Root)...)
}

// matrix draws a comparison as a table.
func (p *page) matrix(c *Compared) {
	if c == nil {
		return
	}
	p.gap()
	p.table(slices.Concat([]visible.Text{"field"}, c.Sources, []visible.Text{"", "entries"})...)
	for _, f := range c.Fields {
		cells := []visible.Text{f.Field}
		for _, x := range f.Cells {
			switch {
			case x.None:
				cells = append(cells, "")
			case !x.Known:
				cells = append(cells, "unknown")
			default:
				cells = append(cells, x.Value)
			}
		}
		p.row(append(cells, visible.Line(f.agreement()), visible.Line(strings.Trim(fmt.Sprint(f.Entries), "[]")))...)
	}
}
