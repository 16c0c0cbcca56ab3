package bundle

import (
	"fmt"
	"time"

	"handrail/cli/process"
	"handrail/session/index"
)

// lineFound is the public form of what was found.
type lineFound struct {
	Incident    string    `json:"incident"`
	Path        string    `json:"path"`
	Title       string    `json:"title"`
	Runbook     string    `json:"runbook"`
	Severity    string    `json:"severity"`
	Outcome     string    `json:"outcome"` // "" while the incident goes on
	Entry       int64     `json:"entry"`
	When        time.Time `json:"when"`
	Type        string    `json:"type"` // of the entry, or "artifact" or "act"
	Who         string    `json:"who"`
	Step        string    `json:"step,omitempty"`
	Artifact    string    `json:"artifact,omitempty"` // digest of the artifact that has the line
	Role        string    `json:"role,omitempty"`
	Line        string    `json:"line"`
	Fingerprint string    `json:"fingerprint,omitempty"` // of an error line
	Evidence    []ground  `json:"evidence,omitempty"`    // what an act stood on
}

// ground is one reading or word that an act stood on.
type ground struct {
	Step  string `json:"step"`
	Entry int64  `json:"entry"`
	Who   string `json:"who"`
	Line  string `json:"line"`
}

// unread is a bundle that could not be searched, or not whole.
type unread struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// heldBy is how much one incident has of what was asked for.
type heldBy struct {
	Incident string `json:"incident"`
	Path     string `json:"path"`
	Lines    int    `json:"lines"`
	Shown    int    `json:"shown"`
}

type QueryAnswer struct {
	Hits      []lineFound `json:"hits"`
	Incidents []heldBy    `json:"incidents"` // in the order of hits
	More      bool        `json:"more"`      // there are more than --limit
	AtMost    int         `json:"at_most"`   // so many incidents can fit; without more, so many do
	Bundles   int         `json:"bundles"`
	Unread    []unread    `json:"unread"`
}

func publicAnswer(a index.Answer) QueryAnswer {
	out := QueryAnswer{Hits: []lineFound{}, Incidents: []heldBy{}, More: a.More, AtMost: a.AtMost, Bundles: a.Bundles, Unread: []unread{}}
	for _, f := range a.Incidents {
		out.Incidents = append(out.Incidents, heldBy(f))
	}
	for _, h := range a.Hits {
		var on []ground
		for _, g := range h.Evidence {
			on = append(on, ground{g.Step, g.Seq, g.Who, g.Text})
		}
		out.Hits = append(out.Hits, lineFound{h.Incident, h.Path, h.Title, h.Runbook, h.Severity, h.Outcome, h.Seq, h.At, h.Type, h.Who, h.Step,
			h.Artifact, h.Role, h.Line, string(h.Fingerprint), on})
	}
	for _, u := range a.Problems {
		out.Unread = append(out.Unread, unread(u))
	}
	return out
}

func PrintHits(p *process.Program, a index.Answer) error {
	var rows [][]string
	hits := a.Hits
	for _, in := range a.Incidents {
		for _, h := range hits[:in.Shown] {
			where := h.Type
			switch {
			case h.Artifact != "":
				where = h.Role
			case h.Type == index.Acts:
				where = h.Step
			}
			rows = append(rows, []string{stamp(h.At), h.Who, h.Incident, fmt.Sprint(h.Seq), where, string(h.Fingerprint), h.Line})
			for _, g := range h.Evidence {
				rows = append(rows, []string{"", g.Who, h.Incident, fmt.Sprint(g.Seq), g.Step, "", "  evidence: " + g.Text})
			}
		}
		if hits = hits[in.Shown:]; in.Lines > in.Shown {
			rows = append(rows, []string{"", "", in.Incident, "", "", "", "… and " + process.Counted(in.Lines-in.Shown, "more line")})
		}
	}
	if len(rows) > 0 {
		if err := process.Table(p.Stdout, []string{"WHEN", "WHO", "INCIDENT", "ENTRY", "WHERE", "FINGERPRINT", "LINE"}, rows); err != nil {
			return err
		}
	}
	for _, u := range a.Problems {
		fmt.Fprintf(p.Stderr, "not searched, or not whole: %s: %s\n", process.Safe(u.Path), process.Safe(u.Why))
	}
	switch {
	case a.More:
		fmt.Fprintf(p.Stderr, "These are the first %d lines, of %s and the newest; up to %d of %s can hold more. --limit 0 prints all.\n",
			len(a.Hits), process.Counted(len(a.Incidents), "incident"), a.AtMost, process.Counted(a.Bundles, "bundle"))
	case len(rows) == 0:
		fmt.Fprintf(p.Stderr, "Nothing fits in %s.\n", process.Counted(a.Bundles, "bundle"))
	}
	return nil
}
