package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

// Markdown writes the report of a folded state, without what only the journal and a verification know.
func Markdown(w io.Writer, st triage.State) error { return WriteMarkdown(w, New(st)) }

// WriteMarkdown writes one page in the dialect of GitHub. Text from outside cannot act as markup: it is escaped in
// sentences and cells, and stands behind a fence longer than any run of backticks inside where its lines matter.
func WriteMarkdown(w io.Writer, d Document) error {
	p := &page{w: bufio.NewWriter(w)}
	p.head(d)
	p.legs(d)
	p.conclusions(d)
	p.findings(d)
	p.remarks("Ruled out, or read with nothing to point at", "Nothing was ruled out on the record.", d.RuledOut)
	p.remarks("Could not be checked, or was not", "Nothing was left unchecked.", d.Unchecked)
	p.gates(d)
	p.debts(d)
	p.waivers(d)
	p.followUps(d)
	p.facts(d)
	p.coverage(d)
	p.timeline(d)
	p.handled(d)
	p.verification(d)
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

// section opens a section.
func (p *page) section(title string) { p.line("\n## %s\n", title) }

// row writes a line of a table; each cell is escaped here and nowhere else.
func (p *page) row(cells ...visible.Text) {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = md(c)
	}
	p.line("| %s |", strings.Join(out, " | "))
}

func (p *page) table(heads ...string) {
	p.line("| %s |", strings.Join(heads, " | "))
	p.line("|%s", strings.Repeat(" --- |", len(heads)))
}

// fence writes lines as they are, behind a fence that they cannot close.
func (p *page) fence(kind string, body visible.Text) {
	ticks, run := 3, 0
	for _, r := range string(body) {
		if r != '`' {
			run = 0
		} else if run++; run >= ticks {
			ticks = run + 1
		}
	}
	mark := strings.Repeat("`", ticks)
	p.line("\n%s%s\n%s\n%s\n", mark, kind, body, mark)
}

// markup is what Markdown acts upon inside a line. A bare address or a www. would become a link.
var markup = strings.NewReplacer("\\", "\\\\", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_",
	"[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~", "$", "\\$", "://", "\\://", "www.", "www\\.", "WWW.", "WWW\\.",
	"mailto:", "mailto\\:", "\n", "⏎")

// numbered is how an item of a numbered list begins.
var numbered = regexp.MustCompile(`^[0-9]+[.)](\s|$)`)

// md escapes a text for a sentence or a cell. At its start a list, a heading line or a code block could begin as well.
func md(t visible.Text) string {
	s := string(t)
	rest := strings.TrimLeft(s, " \u00a0")
	lead := strings.Repeat("&nbsp;", strings.Count(s, "")-strings.Count(rest, ""))
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	switch {
	case rest == "":
		return lead
	case strings.ContainsAny(rest[:1], "-+="):
		return lead + "\\" + rest[:1] + markup.Replace(rest[1:])
	case digits > 0 && numbered.MatchString(rest):
		return lead + rest[:digits] + "\\" + rest[digits:digits+1] + markup.Replace(rest[digits+1:])
	}
	return lead + markup.Replace(rest)
}

func (p *page) head(d Document) {
	p.line("# %s\n", md(d.Title))
	if d.Drill != "" {
		p.line("**This was a drill: %s.**\n", md(d.Drill))
	}
	outcome := md(visible.Line(outcomes(string(d.Outcome))))
	if d.Outcome == "" {
		outcome = "still open, in phase " + md(d.Phase)
	}
	p.line("**%s**, severity %s, %s from %s to %s.\n", outcome, md(d.Severity), d.Took, stamp(d.Opened), stamp(latest(d)))
	p.table("", "")
	p.row("incident", d.Incident)
	for _, r := range d.Runbooks {
		p.row("runbook", visible.Line(fmt.Sprintf("%s: %s (digest %.12s)", r.ID, r.Title, r.Digest)))
		for _, f := range r.Params {
			p.row(visible.Line("parameter "+f.Name.String()), f.Value)
		}
	}
	p.row("newest entry", visible.Line(fmt.Sprintf("%d, %s", d.Entry, stamp(d.Updated))))
	p.line("")
	for _, l := range d.Brief[min(1, len(d.Brief)):] {
		p.line("- **%s:** %s", l.Label, md(l.Text))
	}
	p.section("On the call")
	if len(d.People) == 0 {
		p.line("Nobody is named.")
		return
	}
	p.table("who", "known as", "proven by", "roles", "since")
	for _, x := range d.People {
		p.row(x.Name, x.Subject, x.Proof, x.Roles, visible.Line(stamp(x.Since)))
	}
}

func (p *page) legs(d Document) {
	p.section("The loop as it was walked")
	p.table("phase", "entered", "stayed", "entry", "why")
	for _, l := range d.Legs {
		why := l.Why
		if l.Back {
			why = visible.Line(strings.TrimSuffix("went back: "+string(l.Why), ": "))
		}
		p.row(l.Phase, visible.Line(stamp(l.From)), visible.Line(l.Took), number(l.Entry), why)
	}
}

func number(n int64) visible.Text { return visible.Line(fmt.Sprint(n)) }

func (p *page) conclusions(d Document) {
	p.section("What was concluded")
	if len(d.Conclusions) == 0 {
		p.line("Nothing yet.")
		return
	}
	p.table("question", "answer", "why", "entry")
	for _, c := range d.Conclusions {
		value, why := string(c.Value), string(c.Why)
		if c.Provisional {
			value += " (provisional)"
		}
		if c.Proposed != "" && c.Proposed != c.Value {
			value += " (the rules propose " + string(c.Proposed) + ")"
		}
		if c.Person != "" {
			why = "says " + string(c.Person) + ": " + why
		}
		if len(c.Grounds) > 0 {
			why += "; " + joined(c.Grounds, "; ")
		}
		if c.Contradicts != "" {
			why += "; the decision matrix says: " + string(c.Contradicts)
		}
		p.row(visible.Line(cmp.Or(c.Question, string(c.Topic))), visible.Line(value), visible.Line(strings.TrimPrefix(why, "; ")), number(c.Entry))
	}
}

func (p *page) findings(d Document) {
	p.section("Findings")
	if len(d.Findings) == 0 {
		p.line("No step found anything to point at.")
		return
	}
	p.table("level", "finding", "step", "entry")
	for _, f := range d.Findings {
		p.row(f.Level, f.Say, f.Step, number(f.Entry))
	}
}

func (p *page) remarks(title, none string, list []Remark) {
	p.section(title)
	if len(list) == 0 {
		p.line("%s", none)
		return
	}
	p.table("what", "why", "step", "entry")
	for _, r := range list {
		entry := number(r.Entry)
		if r.Entry == 0 {
			entry = ""
		}
		p.row(r.What, r.Why, r.Step, entry)
	}
}

func (p *page) debts(d Document) {
	p.section("Debts")
	if len(d.Debts) == 0 {
		p.line("Nothing is owed.")
		return
	}
	p.table("debt", "what is owed", "settled", "by", "until", "proof or reason", "entry")
	for _, x := range d.Debts {
		until := x.Until
		if until == "" && !x.Due.IsZero() {
			until = visible.Line("due " + stamp(x.Due))
		}
		p.row(x.ID, x.Text, cmp.Or(x.How, "OPEN"), x.By, until, x.Why, number(x.Entry))
	}
}

func (p *page) waivers(d Document) {
	if len(d.Waivers) == 0 {
		return
	}
	p.section("Waivers")
	p.table("law", "subject", "waived by", "why", "recorded by", "at", "entry")
	for _, w := range d.Waivers {
		p.row(w.law(), w.Subject, w.Person, w.Why, w.Actor, visible.Line(stamp(w.At)), number(w.Entry))
	}
}

// law is what was set aside: a law by its number, or what a step found.
func (w Waiver) law() visible.Text {
	if w.Law != triage.LawNone {
		return number(int64(w.Law))
	}
	out := visible.Text("found")
	for i, f := range w.Findings {
		out += map[bool]visible.Text{true: ": ", false: "; "}[i == 0] + f
	}
	return out
}

func (p *page) followUps(d Document) {
	p.section("Follow-ups")
	if len(d.FollowUps) == 0 {
		p.line("None on the record.")
		return
	}
	for _, f := range d.FollowUps {
		who := ""
		if f.Who != "" {
			who = " — " + md(f.Who)
		}
		if f.Until != "" {
			who += ", until " + md(f.Until)
		}
		p.line("- [ ] %s (%s)%s", md(f.What), md(f.From), who)
	}
}

func (p *page) coverage(d Document) {
	p.section("Coverage of the evidence")
	p.line("%s.\n", md(d.Covered))
	p.table("item", "what", "state", "by", "why", "entry")
	for _, c := range d.Coverage {
		entry := number(c.Entry)
		if c.Entry == 0 {
			entry = ""
		}
		p.row(c.Code, c.Item, visible.Line(c.State), c.Steps, c.Why, entry)
	}
}

func (p *page) handled(d Document) {
	if len(d.Handled) == 0 && d.HandledSay == "" {
		return
	}
	p.section("Handled")
	p.line("What was done with the bundle, by the log beside it, which is no proof. %s\n", md(d.HandledSay))
	p.table("at", "who", "what", "where", "result", "entries")
	for _, h := range d.Handled {
		result := h.Result
		if !h.Fits {
			result = visible.Line(string(result) + " (of a journal that is not this one)")
		}
		p.row(visible.Line(stamp(h.At)), h.Actor, visible.Line(strings.TrimSpace(string(h.What)+" "+string(h.Form))), h.Place, result, number(h.Entries))
	}
}

func (p *page) timeline(d Document) {
	p.section("Timeline")
	p.table("entry", "at", "who", "what")
	for _, m := range d.Timeline {
		what := m.Text
		if m.Level == "critical" || m.Level == "warning" {
			what = visible.Line(strings.ToUpper(string(m.Level)) + ": " + string(m.Text))
		}
		p.row(number(m.Entry), visible.Line(stamp(m.At)), m.Actor, what)
	}
}
