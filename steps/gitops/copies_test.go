package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/gitops/app"
)

// Commits that the applications of these tests stand at.
const (
	before = "1111111111111111111111111111111111111111"
	merged = "2222222222222222222222222222222222222222"
)

// copyAs is a copy with its application, as a reading found both.
func copyAs(namespace string, live, git pair, with ...func(*copyOf)) *copyOf {
	c := &copyOf{namespace: namespace, name: "settings", values: live, git: gitSide{values: git, path: "deploy/" + namespace}, loaded: loadedNone,
		writers: [2]authored{{"argocd-controller", at(-60), true}, {"argocd-controller", at(-60), true}},
		app: &app.App{Controller: app.ArgoCD, Kind: "Application", Namespace: "argocd", Name: namespace, UID: "u-" + namespace, Tried: before, Applied: before,
			Sync: app.Synced, Health: app.Healthy, Operation: app.Operation{Phase: app.Succeeded, Began: at(-31), Ended: at(-30)}}}
	for _, f := range with {
		f(c)
	}
	return c
}

// readCopies tells what a reading of these copies comes to.
func readCopies(t *testing.T, in steps.Params, token *pair, copies ...*copyOf) (map[string]steps.Value, steps.Observation) {
	t.Helper()
	all := steps.Params{"alg_key": steps.StringOf("ALG"), "kid_key": steps.StringOf("KID"), "issuer": steps.StringOf("accounts"), "failing": steps.StringOf("cards")}
	for k, v := range in {
		all[k] = v
	}
	r := &copiesRun{in: all, f: steps.NewFacts(copiesFacts()), copies: copies, token: token, tokenless: "no token was given",
		now: func() (time.Time, string) { return at(0), "" }}
	r.order()
	r.tell()
	facts := r.f.Rest("not read")
	kind := steps.Kind{Facts: copiesFacts()}
	if more := kind.Undeclared(facts); len(more) > 0 {
		t.Errorf("it tells %q, which it does not declare", more)
	}
	return facts, r.obs
}

func wantFacts(t *testing.T, facts map[string]steps.Value, want map[string]string) {
	t.Helper()
	for name, text := range want {
		got := "unknown: " + facts[name].Why()
		switch v := facts[name]; {
		case !v.Known():
		case v.Type() == steps.Strings:
			got = strings.Join(v.Strings(), "; ")
		case v.Type() == steps.Table:
			got = fmt.Sprint(v.Table())
		default:
			got = v.Text()
		}
		if got != text && (text == "" || !strings.HasPrefix(text, "unknown") || !strings.HasPrefix(got, text)) {
			t.Errorf("%s is %q, want %q", name, got, text)
		}
	}
}

func handed(minutes int) func(*copyOf) {
	return func(c *copyOf) {
		c.writers = [2]authored{{"kubectl-edit", at(minutes), true}, {"kubectl-edit", at(minutes), true}}
	}
}

func running(c *copyOf) { c.app.AutoSync = true }

func off(c *copyOf) {
	c.app.Suspension = &app.Suspension{How: "spec.syncPolicy.automated.enabled=false", Since: at(-600), By: "argocd-server"}
}

// TestCopies: the picture of the catalogue, three copies of which one is right, one half right and
// one as stale as Git.
func TestCopies(t *testing.T) {
	t.Parallel()
	stale, right := pair{"HS256", "k-1"}, pair{"RS256", "k-2"}
	three := func() []*copyOf {
		return []*copyOf{
			copyAs("cards", stale, stale, running),
			copyAs("accounts", right, stale, off, handed(-9000)),
			copyAs("loans", pair{"RS256", "k-1"}, stale, off, handed(-8000)),
		}
	}
	facts, obs := readCopies(t, nil, &right, three()...)
	wantFacts(t, facts, map[string]string{
		"found":  "accounts/settings; loans/settings; cards/settings",
		"issuer": "accounts", "second": "loans", "third": "cards", "out_of_reach": "",
		"issuer_alg": "RS256", "issuer_kid": "k-2", "second_alg": "RS256", "second_kid": "k-1", "third_alg": "HS256", "third_kid": "k-1",
		"git_alg": "HS256", "git_kid": "k-1", "signed_alg": "RS256", "signed_kid": "k-2",
		"alg_as_signed": "issuer; second", "kid_as_signed": "issuer",
		"right": "RS256 for ALG; k-2 for KID", "against_signed": "", "same": "false",
		"git_stale":  "deploy/accounts (accounts): HS256 for ALG; deploy/loans (loans): HS256 for ALG; deploy/cards (cards): HS256 for ALG; deploy/accounts (accounts): k-1 for KID; deploy/loans (loans): k-1 for KID; deploy/cards (cards): k-1 for KID",
		"live_wrong": "cards/settings: HS256 for ALG; loans/settings: k-1 for KID; cards/settings: k-1 for KID",
		"by_hand":    "accounts/settings; loans/settings", "hand_at": at(-8000).Format(time.RFC3339),
		"running":    "map[applications.argoproj.io/argocd/cards:u-cards]",
		"issuer_app": "accounts", "third_app": "cards", "third_app_namespace": "argocd", "issuer_paused": "true", "third_paused": "false",
		"revision": before, "unsettled": "", "since_sync": "30m0s", "old": "",
	})
	if !strings.Contains(obs.Summary, "3 copies with 3 different contents") || !strings.Contains(obs.Summary, "Git is stale in 6 places") {
		t.Error(obs.Summary)
	}
	facts, _ = readCopies(t, steps.Params{"alg_from": steps.EnumOf("git"), "kid_from": steps.EnumOf("git")}, &right, three()...)
	wantFacts(t, facts, map[string]string{"right": "HS256 for ALG; k-1 for KID", "git_stale": "",
		"against_signed": "HS256 was chosen for ALG, and the token has RS256; k-1 was chosen for KID, and the token has k-2"})
	facts, _ = readCopies(t, nil, nil, three()...)
	wantFacts(t, facts, map[string]string{"alg_as_signed": "unknown: no token was given", "right": "unknown: what is right is not known: no token was given",
		"against_signed": "unknown", "git_stale": "unknown", "signed_alg": "unknown", "git_alg": "HS256"})
}

// TestCopiesDoubt: what is not known whole is unknown, and what the syncs do not reach is said.
func TestCopiesDoubt(t *testing.T) {
	t.Parallel()
	right := pair{"RS256", "k-2"}
	chosen := steps.Params{"alg_from": steps.EnumOf("issuer"), "kid_from": steps.EnumOf("git")}
	unread := func(c *copyOf) { c.git = gitSide{why: "no clone of its repository was named"} }
	lone := func(c *copyOf) { c.app, c.appless = nil, "no application of Argo CD applies it" }
	for name, of := range map[string]struct {
		in     steps.Params
		token  *pair
		copies []*copyOf
		want   map[string]string
		says   string
	}{
		"two, and Git is right in one field": {chosen, &right, []*copyOf{copyAs("accounts", right, pair{"HS256", "k-2"}), copyAs("cards", pair{"HS256", "k-2"}, pair{"HS256", "k-2"})},
			map[string]string{"second": "cards", "third": "", "third_alg": "unknown", "git_alg": "HS256", "git_kid": "k-2", "kid_as_signed": "issuer; second; git", "right": "RS256 for ALG; k-2 for KID",
				"against_signed": "", "live_wrong": "cards/settings: HS256 for ALG"}, "Git has HS256, k-2 for accounts/settings"},
		"paths in Git that do not agree": {chosen, &right, []*copyOf{copyAs("accounts", right, right), copyAs("cards", right, pair{"RS256", "k-1"})},
			map[string]string{"git_kid": "k-1 (deploy/cards), k-2 (deploy/accounts)", "kid_as_signed": "issuer; second", "right": "unknown: what is right is not known: the paths in Git do not agree"}, ""},
		"no clone": {nil, &right, []*copyOf{copyAs("accounts", right, right, unread), copyAs("cards", right, right)},
			map[string]string{"git_alg": "unknown: what Git has is not known", "git_stale": "unknown", "alg_as_signed": "unknown", "live_wrong": "", "same": "unknown"}, "not known: no clone"},
		"a key that no side has": {nil, &pair{"RS256", "k-9"}, []*copyOf{copyAs("accounts", right, right), copyAs("cards", right, right)},
			map[string]string{"kid_as_signed": "", "alg_as_signed": "issuer; second; git", "same": "true"}, "No side has the key that the token is signed with, k-9"},
		"the issuer holds an older copy": {nil, &pair{"HS256", "k-1"}, []*copyOf{copyAs("accounts", right, right, func(c *copyOf) {
			c.loaded, c.old = loadedOld, []workloadRef{{"deployments.apps", "accounts", "accounts", "d-1"}}
		})}, map[string]string{"old": "deployments.apps/accounts/accounts", "issuer_old_name": "accounts", "issuer_old_uid": "d-1"}, "its Pods started before the copy was written"},
		"no kid": {nil, &pair{"RS256", ""}, []*copyOf{copyAs("accounts", right, right)},
			map[string]string{"signed_kid": "unknown", "kid_as_signed": "unknown", "right": "unknown", "against_signed": "unknown"}, ""},
		"not signed": {nil, &pair{"none", "k-2"}, []*copyOf{copyAs("accounts", right, right)}, nil, "not signed at all"},
		"one application for two": {nil, &right, []*copyOf{copyAs("accounts", right, right), copyAs("cards", right, right, func(c *copyOf) { c.app.UID = "u-accounts" })},
			map[string]string{"out_of_reach": "cards/settings: argocd application argocd/cards applies accounts/settings as well, so that one sync is the sync of both"}, ""},
		"one that a program copied": {nil, &right, []*copyOf{copyAs("accounts", right, right), copyAs("cards", right, right, lone)},
			map[string]string{"out_of_reach": "cards/settings: no application of Argo CD applies it", "second_app": "unknown", "git_alg": "RS256"}, ""},
		"four": {nil, &right, []*copyOf{copyAs("accounts", right, right), copyAs("audit", right, right), copyAs("cards", right, right), copyAs("loans", right, right)},
			map[string]string{"second": "audit", "third": "cards", "out_of_reach": "loans/settings: it is beyond the three that are gone through in turn"}, ""},
		"none of the issuer": {nil, &right, []*copyOf{copyAs("cards", right, right), copyAs("loans", right, right)},
			map[string]string{"issuer": "", "out_of_reach": "loans/settings: it is beyond the three that are gone through in turn; cards/settings: it is beyond the three that are gone through in turn; namespace accounts, which issues the tokens, has no copy"}, ""},
		"two commits": {nil, &right, []*copyOf{copyAs("accounts", right, right), copyAs("cards", right, right, func(c *copyOf) { c.app.Tried = merged })},
			map[string]string{"revision": "unknown", "unsettled": "cards: the commit that it compares with was not synced yet; they compare with different commits"}, ""},
		"not healthy": {nil, &right, []*copyOf{copyAs("accounts", right, right, func(c *copyOf) { c.app.Health = app.Degraded })}, map[string]string{"unsettled": "accounts: health degraded"}, ""},
		"taken away": {nil, &right, []*copyOf{copyAs("accounts", right, right, func(c *copyOf) {
			c.app.History = []app.Deployment{{Auto: true, At: at(-300)}, {Auto: false, At: at(-10)}}
		})}, map[string]string{"taken_away": "argocd application argocd/accounts", "issuer_paused": "false",
			"auto_sync": "map[argocd application argocd/accounts:off: taken away after " + at(-300).Format(time.RFC3339) + ", when it last synced by itself]"}, ""},
		"the books do not say":  {nil, &right, []*copyOf{copyAs("accounts", right, right, func(c *copyOf) { c.writers[1] = authored{} })}, map[string]string{"by_hand": "unknown"}, "by whom is not recorded"},
		"a choice of one field": {steps.Params{"alg_from": steps.EnumOf("git")}, &right, []*copyOf{copyAs("accounts", right, right)}, map[string]string{"right": "unknown: what is right is not known: which KID is right was not chosen"}, ""},
		"a copy without the key": {steps.Params{"alg_from": steps.EnumOf("second"), "kid_from": steps.EnumOf("issuer")}, &right, []*copyOf{copyAs("accounts", right, right), copyAs("cards", pair{"", "k-2"}, right)},
			map[string]string{"right": "unknown: what is right is not known: the side second has no ALG"}, "cards/settings has nothing, k-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts, obs := readCopies(t, of.in, of.token, of.copies...)
			wantFacts(t, facts, of.want)
			if !slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, of.says) }) {
				t.Errorf("nothing says %q: %v", of.says, obs.Findings)
			}
		})
	}
}

// TestTokenFile: a token that was saved before the copy was written proves what was right then, and
// no part of it but its header is kept.
func TestTokenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImstMiJ9.c2VjcmV0LXBheWxvYWQ.c2lnbmF0dXJlLTU1"
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		saved, wrote int // minutes
		level        steps.Level
		says         string
	}{
		"of now":          {-1, -60, steps.Info, ""},
		"old":             {-20, -60, steps.Warning, "saved 20m0s ago"},
		"from before":     {-70, -60, steps.Critical, "before the copy of the issuer was written"},
		"the same moment": {-5, -5, steps.Info, ""},
	} {
		copied := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(copied, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(copied, at(of.saved), at(of.saved)); err != nil {
			t.Fatal(err)
		}
		var told []string
		r := &copiesRun{in: steps.Params{"alg_key": steps.StringOf("ALG"), "kid_key": steps.StringOf("KID"), "issuer": steps.StringOf("accounts"), "token_file": steps.PathOf(filepath.Base(copied))},
			env: steps.Env{Dir: dir}, f: steps.NewFacts(copiesFacts()), now: func() (time.Time, string) { return at(0), "" },
			copies: []*copyOf{copyAs("accounts", pair{"RS256", "k-2"}, pair{"RS256", "k-2"}, handed(of.wrote))}}
		r.readToken(steps.SecretsOnly(func(s string) { told = append(told, s) }))
		r.order()
		r.tell()
		if r.token == nil || *r.token != (pair{"RS256", "k-2"}) || !slices.Contains(told, token) {
			t.Errorf("%s: %v, told %q", name, r.token, told)
		}
		found := of.says == ""
		for _, f := range r.obs.Findings {
			if of.says != "" && strings.Contains(f.Say, of.says) {
				found = f.Level == of.level
			} else if f.Level == steps.Critical || strings.Contains(f.Say, "was saved") {
				t.Errorf("%s: %s", name, f.Say)
			}
		}
		if !found {
			t.Errorf("%s: %v", name, r.obs.Findings)
		}
		if said := fmt.Sprint(r.obs, r.f.Rest("")); strings.Contains(said, "c2Vj") || strings.Contains(said, "c2ln") {
			t.Errorf("the token is said: %s", said)
		}
	}
	for name, in := range map[string]steps.Params{
		"no such file": {"token_file": steps.PathOf("none")},
		"a directory":  {"token_file": steps.PathOf(dir)},
		"both":         {"token_file": steps.PathOf(file), "header": steps.StringOf("alg=RS256")},
		"nothing":      {},
	} {
		r := &copiesRun{in: in, env: steps.Env{Dir: dir}, f: steps.NewFacts(copiesFacts())}
		if r.readToken(steps.SecretsOnly(nil)); r.token != nil || r.tokenless == "" {
			t.Errorf("%s: %v, %q", name, r.token, r.tokenless)
		}
	}
}

// TestTakenAt: a container that started in the second of the write may hold either.
func TestTakenAt(t *testing.T) {
	t.Parallel()
	w := at(0)
	for want, starts := range map[string][]time.Time{
		loadedOld: {w.Add(-time.Second), w.Add(-time.Hour)},
		loadedNew: {w.Add(time.Second), w.Add(time.Hour)},
		"":        {{}, w, w.Add(999 * time.Millisecond)},
	} {
		for _, s := range starts {
			if got := takenAt(s, w); got != want {
				t.Errorf("started %v, written %v: %q, want %q", s, w, got, want)
			}
		}
	}
}

// TestValueOf: a key in full is told by its digest.
func TestValueOf(t *testing.T) {
	t.Parallel()
	pem := "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n"
	if got := valueOf(pem); !strings.HasPrefix(got, "sha256:") || strings.Contains(got, "MIIB") || got != valueOf(strings.TrimSpace(pem)) {
		t.Error(got)
	}
	if got := valueOf(" RS256\n"); got != "RS256" {
		t.Error(got)
	}
}
