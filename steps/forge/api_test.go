package forge

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestGatesKeepTheContract: each gate of this package, on a real Gitea behind a line that fails. What one case leaves there is no
// hindrance to the next.
func TestGatesKeepTheContract(t *testing.T) {
	w := giteaWorld(t)
	env := func(address string) steps.Env {
		return steps.Env{Environ: []string{"GITEA_SERVER_URL=" + address, "GITEA_TOKEN=" + w.alice.Token}, Incident: "i-1"}
	}
	const elsewhere = "http://127.0.0.1:1"
	n := 0
	keeps(t, "forge/comment", func(t *testing.T, through func(string) string) stepstest.World {
		n++
		return stepstest.World{Gate: Commenter{Env: env(through(w.forge.URL))}, Elsewhere: Commenter{Env: env(elsewhere)}, Secrets: []string{w.alice.Token},
			In: steps.Params{"repo": steps.StringOf(w.repo), "number": steps.IntOf(w.stale), "text": steps.StringOf(fmt.Sprintf("Bundle %d, sealed.", n))}}
	})
	keeps(t, "forge/propose", func(t *testing.T, through func(string) string) stepstest.World {
		n++
		main, err := w.real.Head(t.Context(), w.alice, "main")
		if err != nil {
			t.Fatal(err)
		}
		was, is := "env/prod/.* @bob\n", fmt.Sprintf("env/%d/.* @bob\n", n)
		made := Proposal{Commit: main, Branch: fmt.Sprintf("handrail/%012d", n), Title: "Take the owners over", Body: "As they are live.\n", Patch: []byte("-" + was + "+" + is),
			Files: []DraftFile{{Path: "CODEOWNERS", Was: []byte(was), Is: []byte(is)}}}
		gate := func(address string) Proposer {
			return Proposer{Env: env(address), Make: func(context.Context, steps.Env, steps.Params, steps.Sink) (Proposal, error) { return made, nil }}
		}
		return stepstest.World{Gate: gate(through(w.forge.URL)), Elsewhere: gate(elsewhere), Writes: 2, Secrets: []string{w.alice.Token},
			In: steps.Params{"repo": steps.StringOf(w.repo), "base": steps.StringOf("main")}}
	})
	if !strings.HasPrefix(w.forge.URL, "http://127.0.0.1:") {
		t.Error("the forge is no forge of the lab")
	}
}

// keeps holds a gate to the contract of gates over HTTP, case by case.
func keeps(t *testing.T, kind string, open func(t *testing.T, through func(server string) string) stepstest.World) {
	t.Helper()
	for _, c := range stepstest.APICases() {
		t.Run(kind+"/"+c.Name, func(t *testing.T) {
			l := c.Line()
			defer l.Close()
			w := open(t, l.Before)
			w.Do = func(ctx context.Context, p steps.Preview, out steps.Sink) (o steps.Outcome, err, again error) {
				a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
				if err != nil {
					return o, err, nil
				}
				o, err = w.Gate.Act(ctx, a, out)
				_, again = w.Gate.Act(ctx, a, out)
				return o, err, again
			}
			for _, why := range c.Check(t.Context(), l, w) {
				t.Error(why)
			}
		})
	}
}
