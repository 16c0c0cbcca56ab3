package index

import (
	"testing"

	"handrail/triage"
	"handrail/triage/record"
)

// TestTargetsThatAreOne: two incidents are about the same thing or not, also where one
// of them tells less.
func TestTargetsThatAreOne(t *testing.T) {
	t.Parallel()
	of := func(context, server string, kvs ...string) Target {
		params := map[string]triage.Value{}
		for i := 0; i < len(kvs); i += 2 {
			params[kvs[i]] = record.StringOf(kvs[i+1])
		}
		return TargetOf(params, context, server)
	}
	in := func(t Target, state string) Target { t.State = state; return t }
	job := []string{"resource", "job", "namespace", "shop", "name", "migrate"}
	for name, tc := range map[string]struct {
		a, b Target
		want string
	}{
		"one directory":                 {of("", "", "dir", "/net"), of("prod", "", "dir", "/net"), "directory /net"},
		"one directory, two workspaces": {of("", "", "dir", "/net", "workspace", "a"), of("", "", "dir", "/net", "workspace", "b"), ""},
		"one workspace is not told":     {of("", "", "dir", "/net", "workspace", "a"), of("", "", "dir", "/net"), "directory /net"},
		"two directories":               {of("prod", "", "dir", "/net"), of("prod", "", "dir", "/dns"), ""},
		"two directories, one state":    {in(of("", "", "dir", "/net"), "s3 b net"), in(of("", "", "dir", "/clone"), "s3 b net"), "state s3 b net"},
		"one object":                    {of("prod", "", job...), of("prod", "", "resource", "jobs.batch", "namespace", "shop", "name", "migrate"), "job/shop/migrate in prod"},
		"one object by two contexts":    {of("prod", "https://a", job...), of("admin", "https://a", job...), "job/shop/migrate in prod"},
		"one context that was moved":    {of("prod", "https://a", job...), of("prod", "https://b", job...), ""},
		"two clusters":                  {of("prod", "", job...), of("dev", "", job...), ""},
		"two kinds":                     {of("prod", "", job...), of("prod", "", "resource", "secret", "namespace", "shop", "name", "migrate"), ""},
		"two namespaces":                {of("prod", "", job...), of("prod", "", "resource", "job", "namespace", "mail", "name", "migrate"), ""},
		"one namespace":                 {of("prod", "", "space", "shop", "resource", "job"), of("prod", "", "namespace", "shop"), "namespace shop in prod"},
		"an object of a namespace":      {of("prod", "", "space", "shop"), of("prod", "", job...), ""},
		"nothing is told":               {of("prod", ""), of("prod", ""), ""},
		"defaults alone":                {of("prod", "", "resource", "job"), of("prod", "", "resource", "job"), ""},
	} {
		if got := tc.a.Shared(tc.b); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if words := tc.a.Words(); (words == "") != (tc.a == Target{}) {
			t.Errorf("%s: %+v is said as %q", name, tc.a, words)
		}
		if (tc.a.Shared(tc.b) == "") != (tc.b.Shared(tc.a) == "") {
			t.Errorf("%s: it depends on which is asked", name)
		}
	}
}
