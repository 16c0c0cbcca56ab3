package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/cli/process"
	"handrail/session/approval"
	"handrail/triage"
	"handrail/triage/record"
)

// showRequest tells a second person everything that they would sign. All of it
// is outside text.
func showRequest(w io.Writer, r approval.Request, now time.Time) {
	b, second := r.Shown, *r.Shown.Second
	row := func(name, value string) {
		for i, line := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "  %-10s %s\n", process.Safe(name), process.Safe(line))
		}
	}
	fmt.Fprintln(w, "You are asked to approve one act. Read all of it: your signature is for exactly this.")
	fmt.Fprintln(w)
	row("incident", r.Incident+"  "+second.Title+"  "+string(second.Severity))
	row("asked by", strings.Join(second.Asks, ", "))
	row("because", second.Why)
	for _, kv := range second.Where {
		row(kv.Key, kv.Value)
	}
	if b.Step != triage.SeverityGate {
		row("gate", b.Step+" ("+string(b.Class)+")")
	}
	row("THIS WILL", b.Effect)
	for _, kv := range b.Target {
		row(kv.Key, kv.Value)
	}
	for _, kv := range b.Shown {
		row(kv.Key, kv.Value)
	}
	for _, line := range b.Diff {
		row("changes", line)
	}
	row("exactly", b.Command)
	if b.Request != b.Command {
		row("request", b.Request)
	}
	row("undo", b.Undo)
	for _, o := range b.Owners {
		row("owner", o.Name+", paused: "+o.Paused)
	}
	for _, o := range record.Together(b.Owes) {
		row("owes", o.Text)
	}
	if b.Why != "" {
		row("reason", b.Why)
	}
	for _, g := range second.Stands {
		row("evidence", fmt.Sprintf("[%d] %s: %s (%s old)", g.Seq, g.Step, g.Text, now.Sub(g.At).Round(time.Second)))
	}
	for _, v := range b.Verdicts {
		row("condition", v.Expr+" is "+v.Result)
	}
	row("digest", fmt.Sprintf("%.6s, computed again from the above", b.Digest))
	row("until", fmt.Sprintf("%s, %s left", b.Until.UTC().Format(time.RFC3339), b.Until.Sub(now).Round(time.Second)))
}
