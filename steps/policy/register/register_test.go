package register_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps/policy/register"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// one is an entry that lacks nothing and is over, with some fields changed.
func one(changes string) string {
	fields := map[string]string{"id": "BG-1", "person": "ada", "account": "ada-emergency", "reason": "tills refuse payments", "scope": "[configmaps/tills/limits]",
		"opened": "2026-03-10T08:05:00Z", "expires": "2026-03-10T09:00:00Z", "closed": "2026-03-10T08:40:00Z", "approvedBy": "grace", "review": "{owner: platform, due: 2026-03-12}"}
	for change := range strings.SplitSeq(changes, ";") {
		if k, v, ok := strings.Cut(change, "="); ok {
			fields[strings.TrimSpace(k)] = v
		}
	}
	var b strings.Builder
	for _, k := range []string{"id", "person", "account", "reason", "scope", "opened", "expires", "closed", "approvedBy", "review"} {
		if fields[k] != "-" {
			fmt.Fprintf(&b, "  %s: %s\n", k, fields[k])
		}
	}
	return "- " + strings.TrimPrefix(b.String(), "  ")
}

func read(t *testing.T, text string) *register.Register {
	t.Helper()
	r, err := register.Read("glass.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// TestState: a session is closed once it was closed, never since its end passed.
func TestState(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]register.State{
		"":                                      register.Closed,
		"closed=-":                              register.Expired,
		"closed=null":                           register.Expired,
		"closed=''":                             register.Expired,
		"closed='2026-03-10T12:00:00Z'":         register.Closed,
		"closed='2026-03-10T12:00:01Z'":         register.Expired,
		"closed=-;expires=-":                    register.Open,
		"closed=-;expires=2026-03-10T12:00:01Z": register.Open,
		"closed=-;expires=2026-03-10T12:00:00Z": register.Expired,
	} {
		if got := read(t, one(changes)).Sessions[0].State(noon); got != want {
			t.Errorf("%q is %s, want %s", changes, got, want)
		}
	}
}

// TestReview: one without an owner or a day is none, and a date lasts until its day ends.
func TestReview(t *testing.T) {
	t.Parallel()
	for review, want := range map[string]register.ReviewState{
		"-":                             register.NoReview,
		"{}":                            register.NoReview,
		"{owner: a}":                    register.NoReview,
		"{due: 2026-03-12}":             register.NoReview,
		"{owner: ' ', due: 2026-03-12}": register.NoReview,
		"{owner: a, due: 2026-03-10}":   register.Owed,
		"{owner: a, due: 2026-03-09}":   register.Overdue,
		"{owner: a, due: '2026-03-10T12:00:00Z'}":       register.Overdue,
		"{owner: a, due: 2026-03-09, done: 2026-03-10}": register.Done,
		"{owner: a, due: 2026-03-09, done: 2026-03-11}": register.Overdue,
		"{owner: a, due: 2026-03-12, done: 2026-03-09}": register.Owed, // from before it began
	} {
		if got := read(t, one("review="+review)).Sessions[0].ReviewState(noon); got != want {
			t.Errorf("%s is %s, want %s", review, got, want)
		}
	}
}

// TestLacks: what an entry must have and has not.
func TestLacks(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		"":           "",
		"id=-":       "id",
		"person=-":   "person",
		"reason=' '": "reason", "scope=[]": "scope", "scope=null": "scope", "expires=-": "expires", "opened=-": "opened", "approvedBy=-": "approvedBy",
		"scope=['*']":                     "a scope that bounds it (it has *)",
		"scope=['*/*/*', configmaps/a/b]": "a scope that bounds it (it has */*/*)",
		"scope=[configmaps/tills/li*]":    "a scope that bounds it (it has configmaps/tills/li*)",
		"expires=2026-03-10T08:00:00Z":    "an end after its beginning",
		"closed=2026-03-10T08:00:00Z":     "a close after its beginning",
		"closed=2026-03-10T13:00:00Z":     "a close that is not to come",
		"opened=2026-03-10T12:30:00Z;expires=2026-03-10T13:00:00Z;closed=-": "a beginning that is not to come",
	} {
		if got := strings.Join(read(t, one(changes)).Sessions[0].Lacks(noon), "|"); got != want {
			t.Errorf("%q lacks %q, want %q", changes, got, want)
		}
	}
}

func say(x register.Truth) string {
	switch {
	case x.IsTrue():
		return "yes"
	case x.IsFalse():
		return "no"
	case x.Why == "":
		return "unknown without a reason"
	}
	return "unknown"
}

// TestWithin: a write of the session was made after its beginning, and before its end and its close.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ changes, at, want string }{
		{"", "2026-03-10T08:04:59Z", "no"},
		{"", "2026-03-10T08:05:00Z", "yes"},
		{"opened=2026-03-10T08:05:00.9Z", "2026-03-10T08:05:00Z", "yes"},
		{"", "2026-03-10T08:40:00Z", "yes"},
		{"", "2026-03-10T08:40:01Z", "no"},
		{"closed=-", "2026-03-10T09:00:00Z", "yes"},
		{"closed=-", "2026-03-10T09:00:01Z", "no"},
		{"closed=2026-03-10T11:00:00Z", "2026-03-10T09:30:00Z", "no"}, // closed late, and past its end
		{"closed=-;expires=-", "2026-03-10T09:30:00Z", "unknown"},
		{"closed=-;expires=-", "2026-03-10T07:30:00Z", "no"},
		{"opened=-", "2026-03-10T08:30:00Z", "unknown"},
		{"", "", "unknown"},
	} {
		var at time.Time
		if tc.at != "" {
			at, _ = time.Parse(time.RFC3339, tc.at)
		}
		if got := say(read(t, one(tc.changes)).Sessions[0].Within(at, noon)); got != tc.want {
			t.Errorf("%q at %s: %s, want %s", tc.changes, tc.at, got, tc.want)
		}
	}
}

// TestCovers: where a scope holds an object.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ scope, object, want string }{
		{"configmaps/tills/limits", "configmaps/tills/limits", "yes"},
		{"configmap/tills/limits", "configmaps/tills/limits", "yes"},
		{"ConfigMap/tills/limits", "configmaps/tills/limits", "yes"},
		{"cm/tills/limits", "configmaps/tills/limits", "unknown"},
		{"configmaps/tills/limit", "configmaps/tills/limits", "no"},
		{"configmaps/till/limits", "configmaps/tills/limits", "no"},
		{"configmaps/tills/*", "configmaps/tills/limits", "yes"},
		{"'*/tills/*'", "configmaps/tills/limits", "yes"},
		{"'*/*/*'", "configmaps/tills/limits", "unknown"},
		{"'*'", "configmaps/tills/limits", "unknown"},
		{"configmaps/tills/lim*", "configmaps/tills/limits", "unknown"},
		{"configmaps/tills", "configmaps/tills/limits", "no"},
		{"deployments/tills/api", "deployments.apps/tills/api", "yes"},
		{"deployments.apps/tills/api", "deployments.apps/tills/api", "yes"},
		{"deployments.extensions/tills/api", "deployments.apps/tills/api", "unknown"},
		{"clusterroles/admin", "clusterroles.rbac.authorization.k8s.io//admin", "yes"},
		{"clusterroles/tills/admin", "clusterroles.rbac.authorization.k8s.io//admin", "no"},
		{"module.net.*", "module.net.aws_vpc.main", "yes"},
		{"module.net.*", "module.network.aws_vpc.main", "no"},
		{"aws_vpc.main", "aws_vpc.main", "yes"},
		{"aws_vpc.main", "aws_vpc.main_2", "no"},
		{"'aws_vpc.main[*]'", "aws_vpc.main[0]", "yes"},
		{"'aws_vpc.main[*]'", "aws_vpc.main", "no"},
		{"configmaps/tills/limits", "", "unknown"},
		{"", "configmaps/tills/limits", "unknown"},
	} {
		list := "[" + tc.scope + "]"
		if got := say(read(t, one("scope="+list)).Sessions[0].Covers(tc.object)); got != tc.want {
			t.Errorf("%s of %s: %s, want %s", tc.scope, tc.object, got, tc.want)
		}
	}
	two := read(t, one("scope=['*', secrets/tills/key, configmaps/tills/*]")).Sessions[0]
	if got := say(two.Covers("configmaps/tills/limits")); got != "yes" {
		t.Errorf("the last of three: %s", got)
	}
}

// TestOwn: who may not approve, who is no person, and what lasts too long.
func TestOwn(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{"": "no", "approvedBy=-": "unknown", "approvedBy=Ada": "yes", "approvedBy=ada-emergency": "yes", "person=-": "unknown", "person=-;approvedBy=ada-emergency": "yes"} {
		if got := say(read(t, one(changes)).Sessions[0].SelfApproved()); got != want {
			t.Errorf("self approved, %q: %s, want %s", changes, got, want)
		}
	}
	for changes, want := range map[string]bool{"": false, "account=ROOT": true, "person=root": true, "person=-": true} {
		if got := read(t, one(changes)).Sessions[0].SharedBy([]string{"root"}); got != want {
			t.Errorf("shared, %q: %t", changes, got)
		}
	}
	for changes, want := range map[string]string{"": "no", "expires=2026-03-10T10:05:01Z": "yes", "closed=2026-03-10T11:00:00Z": "yes", "closed=-": "yes",
		"closed=-;opened=2026-03-10T11:30:00Z;expires=2026-03-10T12:30:00Z": "no", "closed=-;opened=2026-03-10T11:30:00Z;expires=-": "unknown", "opened=-": "unknown"} {
		if got := say(read(t, one(changes)).Sessions[0].Overlong(2*time.Hour, noon)); got != want {
			t.Errorf("overlong, %q: %s, want %s", changes, got, want)
		}
	}
	if got := say(read(t, one("")).Sessions[0].Overlong(0, noon)); got != "unknown" {
		t.Errorf("without a longest: %s", got)
	}
}

// TestFind: the session that holds the object at the time of the write counts, before a later one.
func TestFind(t *testing.T) {
	t.Parallel()
	r := read(t, "shared: [root]\nsessions:\n"+one("id=old;opened=2026-03-09T08:00:00Z;expires=2026-03-09T09:00:00Z;closed=-")+one("id=hit")+
		one("id=later;opened=2026-03-10T10:00:00Z;expires=2026-03-10T11:00:00Z;closed=-")+one("id=elsewhere;scope=[secrets/a/b];closed=-")+one("id=grace's;person=grace;account=-"))
	at := time.Date(2026, 3, 10, 8, 10, 0, 0, time.UTC)
	names := func(list []*register.Session) (out []string) {
		for _, s := range list {
			out = append(out, s.ID)
		}
		return out
	}
	if got := names(r.Find("", "ADA", "configmaps/tills/limits", at, noon)); !slices.Equal(got, []string{"hit", "later", "old", "elsewhere"}) {
		t.Errorf("of ada: %q", got)
	}
	if got := names(r.Find("", "ada", "", time.Time{}, noon)); got[0] != "later" {
		t.Errorf("without object and time, one that is not closed counts: %q", got)
	}
	if got := names(r.Find("hit", "grace", "", time.Time{}, noon)); !slices.Equal(got, []string{"hit"}) {
		t.Errorf("by id: %q", got)
	}
	if got := r.Find("", "", "configmaps/tills/limits", at, noon); len(got) != 0 {
		t.Errorf("of no one: %q", names(got))
	}
	if len(r.Shared) != 1 {
		t.Errorf("shared: %q", r.Shared)
	}
}

// TestReadRefuses: each error has its line.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "glass.yaml:1: the document is empty",
		"none":                               "glass.yaml:1:1: a register of break-glass sessions must be a mapping",
		"waivers: []\n":                      "glass.yaml:1:1: a register of break-glass sessions has no key \"waivers\"",
		"shared: [a]\n":                      "glass.yaml:1:1: sessions is missing",
		"sessions: {}\n":                     "glass.yaml:1:11: sessions must be a list",
		"- a\n":                              "glass.yaml:1:3: a session must be a mapping",
		one("") + one(""):                    "glass.yaml:11:3: the id \"BG-1\" stands twice, first on line 1",
		one("opened=yesterday"):              "glass.yaml:6:11: opened is no time of RFC 3339: \"yesterday\"",
		one("expires=2026-03-11"):            "glass.yaml:7:12: expires is no time",
		one("scope=configmaps/tills/limits"): "glass.yaml:5:10: scope must be a list",
		one("review=platform"):               "glass.yaml:10:11: review must be a mapping",
		one("review={owner: a, dew: 2026-03-11}"):          "glass.yaml:10:22: review has no key \"dew\"",
		"- id: a\n  id: b\n":                               "glass.yaml:2:3: key \"id\" again",
		"- &a {id: a}\n- *a\n":                             "glass.yaml:1:3: an anchor",
		`[{"id":"a"}`:                                      "glass.yaml:1",
		"[]\n---\n[]\n":                                    "glass.yaml:",
		strings.Repeat("#", 1<<20+1):                       "glass.yaml:1: the document has",
		"[" + strings.Repeat("{},", register.Most) + "{}]": "glass.yaml:1:1: 5001 sessions",
	} {
		if _, err := register.Read("glass.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"[]", "sessions: []\n", "{\n\t\"sessions\": [\n\t\t{\"id\": \"a\", \"closed\": null}\n\t]\n}\n"} {
		if _, err := register.Read("glass.yaml", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzRead: what is read holds what the package says of it, at any moment.
func FuzzRead(f *testing.F) {
	f.Add([]byte(one("")), "ada", "configmaps/tills/limits", int64(0))
	f.Add([]byte("shared: [root]\nsessions:\n"+one("closed=-;scope=['*']")+one("id=b;review={}")), "root", "a.b[0]", int64(3600))
	f.Add([]byte("{\n\t\"sessions\": [{\"id\": \"a\", \"closed\": null}]}"), "a", "", int64(-1))
	f.Fuzz(func(t *testing.T, text []byte, who, object string, shift int64) {
		r, err := register.Read("f", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("an error without a line: %v", err)
			}
			return
		}
		now := noon.Add(time.Duration(shift%1e6) * time.Second)
		for _, s := range append(r.Find("", who, object, noon, now), r.Sessions...) {
			if s == nil || s.Name() == "" {
				t.Fatal("a session without a name")
			}
			if s.State(now) == register.Closed && (s.Closed.IsZero() || s.Closed.After(now)) {
				t.Fatalf("closed without a close: %+v", s)
			}
			if s.ReviewState(now) == register.Done && s.Review.Done.IsZero() {
				t.Fatalf("a review that is not done: %+v", s)
			}
			if w := s.Within(noon, now); w.IsTrue() && (s.Opened.IsZero() || s.Opened.After(noon)) {
				t.Fatalf("within what began later: %+v", s)
			}
			if s.Covers(object).IsTrue() && (object == "" || len(s.Scope) == 0) {
				t.Fatalf("covers without a scope or an object: %+v", s)
			}
			for _, x := range []register.Truth{s.Covers(object), s.Within(noon, now), s.SelfApproved(), s.Overlong(time.Hour, now)} {
				if !x.Known && x.Why == "" {
					t.Fatal("unknown without a reason")
				}
			}
			s.Lacks(now)
		}
	})
}
