package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"handrail/evidence/visible"
)

// WriteRecovery writes an artifact as one page of Markdown.
func WriteRecovery(w io.Writer, a Recovery) error {
	out := bufio.NewWriter(w) // keeps the first error for Flush
	for _, b := range recoveryPage(a) {
		b.markdown(out)
	}
	return out.Flush()
}

// standings are the standings in words.
var standings = map[string]string{
	Proven:      "The bundle holds what it stands on.",
	PartlyHeld:  "The bundle holds a part of what it stands on; the rest is below.",
	NotInBundle: "The bundle does not hold it.",
}

func recoveryPage(a Recovery) []Block {
	p := &page{}
	p.add(TitleBlock, spans("%s of %s", a.Title, a.Incident)...)
	p.gap()
	p.add(QuoteBlock, spans("Proves: %s. **%s** %s", a.Proves, a.Standing, standings[a.Standing])...)
	p.gap()
	p.item("Incident", a.About)
	p.item("Drill", a.Drill)
	p.item("Severity", a.Severity)
	p.item("Outcome", orText(a.Outcome, "it goes on"))
	p.item("Where", line(a.Place.words()))
	p.section("What it stands on")
	if len(a.Stands) == 0 {
		p.text("Nothing in this bundle.")
	}
	for _, s := range a.Stands {
		p.stand(s)
	}
	p.section("What is missing")
	if len(a.Missing) == 0 {
		p.text("Nothing.")
	}
	for _, l := range a.Missing {
		if l.How != "" {
			p.add(ItemBlock, spans("**%s**: %s. To get it: %s.", l.Part, l.What, l.How)...)
		} else {
			p.add(ItemBlock, spans("**%s**: %s.", l.Part, l.What)...)
		}
	}
	p.section("The bundle")
	p.table("", "")
	p.row("bundle", a.Bundle.ID)
	p.row("entries", line(fmt.Sprint(a.Bundle.Entries)))
	p.row("head", a.Bundle.Head)
	p.row("root", a.Bundle.Root)
	switch {
	case !a.Bundle.Verified:
		p.row("verification", "NOT verified")
	case a.Bundle.Unproven > 0:
		p.row("verification", line(fmt.Sprintf("nothing failed; %d unproven", a.Bundle.Unproven)))
	default:
		p.row("verification", "ok")
	}
	p.gap()
	p.text("This page proves nothing by itself. `handrail bundle verify %s` recomputes head and root from the bundle; where the bundle grew since, entry %d still has this head.", a.Bundle.ID, a.Bundle.Entries-1)
	return p.blocks
}

func orText(t, otherwise visible.Text) visible.Text {
	if t == "" {
		return otherwise
	}
	return t
}

func (p *page) stand(s Stand) {
	p.heading("%s: %s", strings.ToUpper(s.Part[:1])+s.Part[1:], s.What)
	if s.Says != "" {
		p.item("says", s.Says)
	}
	p.add(ItemBlock, spans("entry %d, %s, by %s", s.Entry, line(stamp(s.At)), orText(s.Actor, "not known"))...)
	p.item("entry hash", s.Hash)
	p.item("step", s.Step)
	if s.Stale {
		p.item("stale", "what it read moved after it was read")
	}
	for _, a := range s.Artifacts {
		p.add(ItemBlock, spans("file: %s, %s, %d bytes, SHA-256 %s", a.Role, a.Media, a.Size, a.SHA256)...)
	}
	if len(s.Values) > 0 {
		p.gap()
		p.table("name", "value")
		for _, f := range s.Values {
			p.row(f.Name, f.Value)
		}
	}
	p.gap()
}
