package report

// Page is a document as one page, what most people look for first: what it hit, how it
// ended, what was done and by whom, how it went, what was decided on what evidence. The
// record behind it is the appendix.
func Page(d Document) []Block {
	if d.Review != nil {
		return reviewPage(d)
	}
	p := &page{}
	p.head(d)
	p.impact(d)
	p.outcome(d)
	p.done(d)
	p.story(d)
	p.decisions(d)
	p.findings(d)
	p.remarks("Ruled out, or read without a finding", "Nothing was ruled out on the record.", d.RuledOut)
	p.remarks("Not checked", "Nothing was left unchecked.", d.Unchecked)
	p.appendix(d)
	p.people(d)
	p.legs(d)
	p.gates(d)
	p.facts(d)
	p.coverage(d)
	p.timeline(d)
	p.handled(d)
	p.verification(d)
	return p.blocks
}
