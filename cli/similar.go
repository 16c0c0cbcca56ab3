package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/session/index"
	"handrail/tui"
)

const (
	// mostAlike bounds the incidents that are named; the newest come first.
	mostAlike = 3
	// mostFound bounds those that are looked at: drills among them are not named.
	mostFound = 16
	// mostErrors bounds the lines of a paste that are looked for: the last ones say
	// most.
	mostErrors = 32
)

// alike finds the newest incidents of this machine with an error of the same
// kind as one in the text.
func alike(p *process.Program, text string) ([]tui.Alike, error) {
	prints := fingerprints(text)
	if len(prints) == 0 {
		return nil, nil
	}
	store, err := bundle.Store(p, "")
	if err != nil {
		return nil, err
	}
	found, err := store.Search(index.Query{Fingerprints: prints, Lines: 1, Limit: mostFound})
	if err != nil || len(found.Hits) == 0 {
		return nil, err
	}
	rows, err := store.Rows()
	if err != nil {
		return nil, err
	}
	var out []tui.Alike
	for _, h := range found.Hits {
		for _, r := range rows {
			if r.ID == h.Incident && r.Drill == "" && r.Kind == "" && len(out) < mostAlike {
				out = append(out, tui.Alike{ID: r.ID, Title: r.Title, Runbook: r.Runbook, Outcome: r.Outcome, Opened: r.Opened, Line: h.Line})
			}
		}
	}
	return out, nil
}

// fingerprints are the kinds of the errors in a text, the last ones first.
func fingerprints(text string) []index.Fingerprint {
	var out []index.Fingerprint
	seen := map[index.Fingerprint]bool{"": true}
	for len(text) > 0 && len(out) < mostErrors {
		text = strings.TrimRight(text, "\r\n")
		at := strings.LastIndexByte(text, '\n') + 1
		if f := index.FingerprintOf(text[at:]); !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
		text = text[:at]
	}
	return out
}

func printAlike(w io.Writer, list []tui.Alike, now time.Time) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "\nRecent incidents with the same error:")
	for _, a := range list {
		outcome := a.Outcome
		if outcome == "" {
			outcome = index.Ongoing
		}
		fmt.Fprintf(w, "  %s  %s ago  %s  %s\n", process.Safe(a.ID), now.Sub(a.Opened).Truncate(time.Minute), process.Safe(outcome), process.Safe(a.Runbook))
	}
	fmt.Fprintln(w, "See one with: handrail bundle show ID")
}
