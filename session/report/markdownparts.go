package report

import (
	"cmp"
	"fmt"
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
		p.line("No gate was opened: nothing was changed through handrail.")
		return
	}
	for _, g := range d.Gates {
		p.gate(g)
	}
}

func (p *page) gate(g Gate) {
	p.line("### %s: %s\n", md(g.Title), strings.ToUpper(md(g.Phase)))
	p.line("Gate %s, class %s.", md(g.Step), md(g.Class))
	if g.Effect != "" {
		p.line("\n> %s\n", md(g.Effect))
	}
	p.item("shown", visible.Line(stamp(g.ShownAt)))
	p.item("acted", visible.Line(stamp(g.ActedAt)))
	p.item("ended", visible.Line(stamp(g.EndedAt)))
	p.item("entries", visible.Line(strings.Trim(fmt.Sprint(g.Entries), "[]")))
	p.item("phrase", g.Phrase)
	p.item("digest of what was confirmed", g.Digest)
	p.item("undo", g.Undo)
	p.item("undo copy", g.UndoCopy)
	p.item("wider than needed, because", g.Widen)
	p.item("closed", g.Why)
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
		p.item(md(s.Key), s.Before)
	}
	if g.Command != "" {
		p.line("\nCommand:")
		p.fence("sh", g.Command)
	}
	if g.UndoCommand != "" {
		p.line("\nUndo:")
		p.fence("sh", g.UndoCommand)
	}
	if g.Request != "" && g.Request != g.Command {
		p.line("\nRequest:")
		p.fence("text", g.Request)
	}
	if len(g.Diff) > 0 {
		p.line("\nRehearsed change:")
		p.fence("diff", visible.String(joined(g.Diff, "\n")))
	}
	if g.Response != "" {
		p.line("\nAnswer:")
		p.fence("text", g.Response)
	}
	if g.Again != "" {
		p.line("\nRead again at %s, %s:", g.AgainAt.UTC().Format("15:04:05Z"), md(g.Again))
		p.fence("text", g.AgainSays)
	}
	if len(g.Verdicts) > 0 {
		p.line("\nConditions, as judged when it was shown:\n")
		p.table("condition", "result", "why")
		for _, v := range g.Verdicts {
			p.row(v.Expr, v.Result, v.Why)
		}
	}
	p.sides(g)
	p.artifacts(g.Artifacts)
	p.line("")
}

// item writes one line of a list, where there is something to write.
func (p *page) item(label string, t visible.Text) {
	if t != "" {
		p.line("- %s: %s", label, md(t))
	}
}

// sides sets the target before the act beside the target after it.
func (p *page) sides(g Gate) {
	if len(g.Sides) == 0 {
		return
	}
	p.line("")
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
		p.line("### %s\n", md(s.Title))
		about := fmt.Sprintf("Step %s, %s in %s, %s", md(s.ID), md(cmp.Or(s.Uses, s.Kind)), md(s.Phase), md(s.Status))
		if s.Entry > 0 {
			about += fmt.Sprintf(", entry %d, %s", s.Entry, stamp(s.Ended))
		}
		if len(s.Covers) > 0 {
			about += ", covers " + md(visible.Line(joined(s.Covers, " ")))
		}
		p.line("%s.", about)
		if s.Summary != "" {
			p.line("\n> %s", md(s.Summary))
		}
		if s.Answer != "" {
			p.line("\nAnswer: **%s**. %s", md(s.Answer), md(s.How))
		}
		if s.Command != "" {
			p.line("\nTo see it again:")
			p.fence("sh", s.Command)
		}
		if s.Drawing != "" {
			p.fence("", s.Drawing)
		}
		p.matrix(s.Compared)
		if len(s.Facts) > 0 {
			p.line("")
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
		p.line("")
	}
}

// mostArtifacts is how many files of one step are named; a watch has one for each sample.
const mostArtifacts = 6

func (p *page) artifacts(list []Artifact) {
	if len(list) > 0 {
		p.line("")
	}
	for i, a := range list {
		if i == mostArtifacts {
			p.line("- and %d more in the bundle", len(list)-i)
			return
		}
		more := ""
		if a.Truncated {
			more = ", cut"
		}
		if a.Redacted != "" {
			more += ", redacted: " + md(a.Redacted)
		}
		p.line("- %s (%s, %d bytes%s, entry %d): sha256 %s", md(a.Role), md(a.Media), a.Size, more, a.Entry, md(a.SHA256))
	}
}

func (p *page) verification(d Document) {
	p.section("Verification")
	v := d.Verification
	if v == nil {
		p.line("This page was written without a verification. Ask the bundle itself:")
		p.fence("sh", visible.Line("handrail bundle verify "+string(d.Incident)))
		return
	}
	verdict := "Verified: every property below was proven"
	switch {
	case !v.OK:
		verdict = "**NOT verified**: a bundle of which anything fails proves nothing as it is"
	case v.Unproven > 0:
		verdict = "Verified: nothing failed; nobody but the bundle itself vouches for what is unproven"
	}
	p.line("%s, over %d entries. The page itself proves nothing: verify the bundle it was made from.\n", verdict, v.Entries)
	p.table("property", "verdict", "detail")
	for _, c := range v.Checks {
		say := c.Verdict
		if say != "ok" && say != "unproven" {
			say = "FAILED"
		}
		p.row(c.Property, say, c.Detail)
	}
	p.line("\n- head: %s", md(v.Head))
	p.line("- Merkle root: %s", md(v.Root))
}
