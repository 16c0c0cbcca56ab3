package forge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// proposer is the gate with a change that a test gives.
func proposer(w *realWorld, token string, made Proposal) Proposer {
	env := steps.Env{Environ: []string{"GITEA_SERVER_URL=" + w.forge.URL, "GITEA_TOKEN=" + token}, Incident: "i-1"}
	return Proposer{Env: env, Make: func(context.Context, steps.Env, steps.Params, steps.Sink) (Proposal, error) { return made, nil }}
}

func unmet(p steps.Preview) string {
	var all []string
	for _, n := range p.Unmet {
		all = append(all, n.Why)
	}
	return strings.Join(all, " ")
}

// TestProposes opens a pull request on a real Gitea, whose protected branch stays as it is.
func TestProposes(t *testing.T) {
	w, ctx := giteaWorld(t), t.Context()
	in := steps.Params{"repo": steps.StringOf(w.repo), "base": steps.StringOf("main")}
	main, err := w.real.Head(ctx, w.alice, "main")
	if err != nil {
		t.Fatal(err)
	}
	was := []byte("env/prod/.* @bob\n")
	made := Proposal{Commit: main, Branch: "handrail/1a2b3c4d5e6f", Title: "Take the owners over", Body: "As they are live.\n", Patch: []byte("--- a/CODEOWNERS\n+++ b/CODEOWNERS\n@@ -1 +1 @@\n-env/prod/.* @bob\n+env/.* @bob\n"),
		Files: []DraftFile{{Path: "CODEOWNERS", Was: was, Is: []byte("env/.* @bob\n")}}}
	preview := func(token string, made Proposal) steps.Preview {
		t.Helper()
		p, err := proposer(w, token, made).Preview(ctx, in, stepstest.NewSink())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	older := made
	older.Commit = w.older
	other := made
	other.Files = []DraftFile{{Path: "CODEOWNERS", Was: []byte("env/dev/.* @bob\n"), Is: []byte("x")}}
	for name, tc := range map[string]struct {
		token string
		made  Proposal
		want  string
	}{
		"made for another commit": {w.alice.Token, older, "main of platform/live is at " + main[:12]},
		"made for another file":   {w.alice.Token, other, "is not the file that the change was made for"},
		"a token that reads":      {w.token, made, "may not write to platform/live"},
		"nothing to propose":      {w.alice.Token, Proposal{Commit: main, Branch: "handrail/0"}, "There is nothing to propose"},
	} {
		if p := preview(tc.token, tc.made); !strings.Contains(unmet(p), tc.want) {
			t.Errorf("%s: unmet = %q, want %q", name, unmet(p), tc.want)
		}
	}

	// A token whose account may write, and that may not itself: the forge refuses, and nothing is there.
	narrow, err := w.alice.NewToken(ctx, "read:repository")
	if err != nil {
		t.Fatal(err)
	}
	p := preview(narrow, made)
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		t.Fatal(err)
	}
	o, err := proposer(w, narrow, made).Act(ctx, a, stepstest.NewSink())
	if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "403") {
		t.Errorf("Act() with a token that reads = %+v, %v, want refused", o, err)
	}

	g, out := proposer(w, w.alice.Token, made), stepstest.NewSink()
	p = preview(w.alice.Token, made)
	if len(p.Unmet) > 0 || !slices.Equal(p.Diff, []string{"CODEOWNERS", "-env/prod/.* @bob", "+env/.* @bob"}) || p.Phrase != "propose platform/live:main" || strings.Count(p.Request, "\n") != 1 {
		t.Fatalf("unmet %q, diff %q, phrase %q, request %q", unmet(p), p.Diff, p.Phrase, p.Request)
	}
	if a, err = steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err != nil {
		t.Fatal(err)
	}
	if o, err = g.Act(ctx, a, out); err != nil || o.Result != steps.Done || steps.Find(o.After, keyState) != "open" {
		t.Fatalf("Act() = %+v, %v", o, err)
	}
	if _, err := g.Act(ctx, a, out); !errors.Is(err, steps.ErrSpent) {
		t.Errorf("a second Act() = %v", err)
	}
	if !slices.Contains(out.Secrets, w.alice.Token) {
		t.Error("the token is no secret of the incident")
	}
	if now, err := w.real.Head(ctx, w.alice, "main"); err != nil || now != main {
		t.Errorf("main is at %s, %v, want %s", now, err, main)
	}
	if found, err := g.Find(ctx, p.Target, in, out); err != nil || found.Result != steps.Done {
		t.Errorf("Find() = %+v, %v", found, err)
	}
	if p := preview(w.alice.Token, made); !strings.Contains(unmet(p), "has this very change already") {
		t.Errorf("a second time: %q", unmet(p))
	}
	w.comments(t, steps.Find(o.After, keyPull))
}

// comments writes one below a pull request, once.
func (w *realWorld) comments(t *testing.T, number string) {
	t.Helper()
	ctx, out := t.Context(), stepstest.NewSink()
	g := Commenter{Env: steps.Env{Environ: []string{"GITEA_SERVER_URL=" + w.forge.URL, "GITEA_TOKEN=" + w.alice.Token}}}
	n, err := steps.ParseValue(steps.Int, number)
	if err != nil {
		t.Fatal(err)
	}
	in := steps.Params{"repo": steps.StringOf(w.repo), "number": n, "text": steps.StringOf("Bundle i-1, sealed.\n\n- root `47DEQp`\n")}
	p, err := g.Preview(ctx, in, out)
	if err != nil || len(p.Unmet) > 0 || p.Phrase != "comment platform/live:"+number || steps.Find(p.Shown, "title") != "Take the owners over" {
		t.Fatalf("Preview() = %+v, %v", p, err)
	}
	if o, err := g.Find(ctx, p.Target, in, out); err != nil || o.Result != steps.Failed {
		t.Errorf("Find() before = %+v, %v", o, err)
	}
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := g.Act(ctx, a, out); err != nil || o.Result != steps.Done || !strings.Contains(o.Response, "#issuecomment-") {
		t.Errorf("Act() = %+v, %v", o, err)
	}
	in["number"] = steps.IntOf(9999)
	if _, err := g.Preview(ctx, in, out); !errors.Is(err, errNotSeen) {
		t.Errorf("Preview() of none = %v", err)
	}
	in["number"], in["text"] = n, steps.StringOf(" ")
	if p, err := g.Preview(ctx, in, out); err != nil || unmet(p) != "The text is empty." {
		t.Errorf("Preview() of no text = %q, %v", unmet(p), err)
	}
}

// TestOrders: what GitHub and GitLab are asked to do, as their documentation has it. They were not asked themselves.
func TestOrders(t *testing.T) {
	d := Draft{Repo: "platform/live", Base: "main", Commit: strings.Repeat("a", 40), Branch: "handrail/1", Title: "T", Body: "B",
		Files: []DraftFile{{"a b/x.yaml", []byte("was\n"), []byte("is\n")}, {"y.yaml", nil, []byte("y")}}}
	for v, want := range map[vendor][]string{
		gitea:  {"POST /repos/platform/live/contents", "POST /repos/platform/live/pulls"},
		github: {"POST /repos/platform/live/git/refs", "PUT /repos/platform/live/contents/a%20b/x.yaml", "PUT /repos/platform/live/contents/y.yaml", "POST /repos/platform/live/pulls"},
		gitlab: {"POST /projects/platform%2Flive/repository/commits", "POST /projects/platform%2Flive/merge_requests"},
	} {
		var got []string
		bodies := ""
		for _, o := range d.orders(v) {
			got = append(got, o.method+" "+o.below)
			bodies += string(o.body)
			if !json.Valid(o.body) {
				t.Errorf("%s: %s is no JSON", v, o.body)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", v, got, want)
		}
		// The name that git hash-object gives "was\n", where the forge compares it.
		if v != gitlab && !strings.Contains(bodies, `"c4a955d0e44cee0930f5cbc2871f139ccf6e556f"`) {
			t.Errorf("%s: the bodies lack the name of the file that is replaced: %s", v, bodies)
		}
		if !strings.Contains(bodies, `"aXMK"`) || !strings.Contains(bodies, d.Branch) {
			t.Errorf("%s: %s", v, bodies)
		}
	}
	for v, want := range map[vendor]string{gitea: "/repos/platform/live/issues/7/comments", github: "/repos/platform/live/issues/7/comments", gitlab: "/projects/platform%2Flive/merge_requests/7/notes"} {
		if got := commentOrder(v, "platform/live", 7, false, "x").below; got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}
