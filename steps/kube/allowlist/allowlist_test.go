package allowlist

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

const uid = "0d0c6e2a-5a3f-4f51-b6f0-2f0c2a3b9a11"

const head = "apiVersion: handrail/v1\nkind: AllowList\nclusters:\n  production: " + uid + "\nentries:\n"

func entry(lines ...string) string { return "- " + strings.Join(lines, "\n  ") + "\n" }

func cron(more ...string) string {
	return entry(append([]string{"category: cronjobs", "cluster: production", "namespace: billing", "name: cronjob/nightly",
		"digest: 3fa9c1d2e4b56a70", "accounts: team billing", "until: 2027-01-31"}, more...)...)
}

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestJudge(t *testing.T) {
	t.Parallel()
	l, err := Parse([]byte(head + cron() +
		entry("category: pod_security", "cluster: production", `namespace: "*"`, "name: labels", `digest: "1111111111111111"`, "accounts: platform", "until: 2027-01-31") +
		entry("category: node_writers", "cluster: production", `node: "*"`, "name: timer/logrotate.timer", `digest: "2222222222222222"`, "accounts: the image", "until: 2027-01-31")))
	if err != nil {
		t.Fatal(err)
	}
	nightly := Thing{Category: CronJobs, Namespace: "billing", Name: "cronjob/nightly", Digest: "3fa9c1d2e4b56a70"}
	other := func(f func(*Thing)) Thing { x := nightly; f(&x); return x }
	for _, tc := range []struct {
		name  string
		thing Thing
		on    string
		want  State
	}{
		{"as it was", nightly, "2026-11-22", Accounted},
		{"the last day", nightly, "2027-01-31", Accounted},
		{"a day later", nightly, "2027-02-02", Expired},
		{"changed", other(func(x *Thing) { x.Digest = "ffffffffffffffff" }), "2026-11-22", Changed},
		{"another namespace", other(func(x *Thing) { x.Namespace = "kube-system" }), "2026-11-22", Unaccounted},
		{"another category", other(func(x *Thing) { x.Category = Workloads }), "2026-11-22", Unaccounted},
		{"another name", other(func(x *Thing) { x.Name = "cronjob/nightly-2" }), "2026-11-22", Unaccounted},
		{"any namespace, that content", Thing{PodSecurity, "team-7", "", "labels", "1111111111111111"}, "2026-11-22", Accounted},
		{"any namespace, another content", Thing{PodSecurity, "team-7", "", "labels", "1111111111111112"}, "2026-11-22", Unaccounted},
		{"any node", Thing{NodeWriters, "", "worker-9", "timer/logrotate.timer", "2222222222222222"}, "2026-11-22", Accounted},
		{"any node, another content", Thing{NodeWriters, "", "worker-9", "timer/logrotate.timer", "2222222222222223"}, "2026-11-22", Unaccounted},
	} {
		if got := l.For(uid, day(tc.on)).Judge(tc.thing); got.State != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got.State, tc.want)
		}
		for _, elsewhere := range []string{"", "another-uid"} {
			if got := l.For(elsewhere, day(tc.on)).Judge(tc.thing); got.State != Unaccounted {
				t.Errorf("%s in cluster %q: %s", tc.name, elsewhere, got.State)
			}
		}
	}
	x := l.For(uid, day("2026-11-22"))
	x.Judge(nightly)
	if got := x.Unused(); len(got) != 2 {
		t.Errorf("unused = %v, want the two that were not asked for", got)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, src, want string }{
		{"nothing", "", "empty"},
		{"no mapping", "- a\n", "keys and values"},
		{"another kind", "apiVersion: handrail/v1\nkind: Policy\n", "kind: AllowList"},
		{"a second document", head + cron() + "---\n" + head, "more than one"},
		{"an unknown key", head + cron("unless: monday"), `no key "unless"`},
		{"a key twice", head + cron("until: 2030-01-01"), "again"},
		{"no one accounts", head + strings.Replace(cron(), "team billing", `""`, 1), "accounts is empty"},
		{"no end", head + strings.Replace(cron(), "until: 2027-01-31", "until: never", 1), "until is a day"},
		{"no digest", head + strings.Replace(cron(), "3fa9c1d2e4b56a70", "any", 1), "16 hexadecimal"},
		{"another cluster", head + strings.Replace(cron(), "cluster: production", "cluster: staging", 1), "under clusters"},
		{"a category that is none", head + strings.Replace(cron(), "category: cronjobs", "category: crons", 1), "no category"},
		{"a name that is a pattern", head + strings.Replace(cron(), "cronjob/nightly", `"*"`, 1), "no pattern"},
		{"a node in the cluster", head + cron("node: worker-1"), "names a node"},
		{"an alias", head + strings.Replace(cron(), "team billing", "&a team", 1), "accounts is a text"},
		{"the entry twice", head + cron() + cron(), "again"},
		{"too large", head + strings.Repeat("#", MaxSize), "bytes"},
	} {
		if _, err := Parse([]byte(tc.src)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestProposalAccountsForNothing until a person has filled it in.
func TestProposalAccountsForNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		things := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Thing {
			x := Thing{Category: rapid.SampledFrom(Categories()).Draw(t, "category"), Name: "kind/" + rapid.StringN(1, 40, 100).Draw(t, "name"),
				Digest: rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "digest")}
			if x.Category == NodeWriters {
				x.Node = "worker-1"
			} else {
				x.Namespace = rapid.StringMatching(`[a-z0-9]{0,8}`).Draw(t, "namespace")
			}
			return x
		}), 1, 5, func(x Thing) Thing { return x }).Draw(t, "things")
		var b bytes.Buffer
		if err := Propose(&b, uid, "production", slices.Values(things)); err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(b.Bytes()); err == nil {
			t.Fatalf("a proposal that nobody filled in is an allow-list:\n%s", b.String())
		}
		filled := strings.ReplaceAll(strings.ReplaceAll(b.String(), "\n  accounts: \"\"", "\n  accounts: \"me\""), "\n  until: \"\"", "\n  until: \"2027-01-31\"")
		l, err := Parse([]byte(filled))
		if err != nil {
			t.Fatalf("%v:\n%s", err, filled)
		}
		x := l.For(uid, day("2026-11-22"))
		for _, thing := range things {
			if got := x.Judge(thing); got.State != Accounted {
				t.Fatalf("%+v: %s, want accounted; the proposal was\n%s", thing, got.State, filled)
			}
		}
	})
}

// FuzzParse: no file accounts for anything without saying who, until when and
// for which content.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + cron()))
	f.Add([]byte("apiVersion: handrail/v1\nkind: AllowList\nclusters: {a: b}\nentries: [{category: cronjobs}]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := Parse(src)
		if err != nil {
			return
		}
		for _, e := range l.Entries {
			if strings.TrimSpace(e.Accounts) == "" || e.Until.IsZero() && !strings.Contains(string(src), "0001-01-01") || !digestForm.MatchString(e.Digest) || e.Name == "" || e.Cluster == "" {
				t.Errorf("%q: entry %+v", src, e)
			}
		}
	})
}

// TestPlainIsYAML: what a proposal quotes without an encoder, an encoder would quote
// in the same way.
func TestPlainIsYAML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]{0,200}`)).Draw(t, "text")
		if !plain(s) {
			return
		}
		raw, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle})
		if want := string(raw); err != nil || want != `"`+s+"\"\n" {
			t.Fatalf("%q: an encoder writes %q (%v)", s, want, err)
		}
	})
}
