package module

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"handrail/steps"
)

// TestWorkspaceNames takes every name that the tools take, but for those that
// would lead out of the directory.
func TestWorkspaceNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]{0,8}`), rapid.StringMatching(`[a-z.~$&+:=@_/-]{1,5}`)).Draw(t, "name")
		want := name != "" && name != "." && name != ".." && name == url.PathEscape(name)
		if got := ValidWorkspace(name); got != want {
			t.Fatalf("ValidWorkspace(%q) = %v, want %v", name, got, want)
		}
	})
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"team@prod": true, "eu+us": true, "v1:blue": true, "prod~1": true, "-x": true, "..": false, "a/b": false, "a b": false, "a\x1b": false} {
		_, err := Open(steps.Env{Dir: dir}, steps.Params{"workspace": steps.StringOf(name)})
		if (err == nil) != ok {
			t.Errorf("%q: %v, want it taken: %v", name, err, ok)
		}
	}
}
