package settings

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
)

// listed are the settings of p by name, each as "value | source | file:line".
func listed(t *testing.T, p *process.Program) map[string][]Setting {
	t.Helper()
	p.Stderr = Scrub(p, io.Discard)
	list, err := Settings(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]Setting{}
	for _, s := range list {
		out[s.Name] = append(out[s.Name], s)
	}
	return out
}

// TestSettingsSayWhoSaidThem: each key of each file with its line, flags over variables,
// and the usual where no file speaks.
func TestSettingsSayWhoSaidThem(t *testing.T) {
	t.Parallel()
	p, root := placed(t, map[string]string{ofMachine: "readOnlyContexts: [prod]\n", ofUser: "# why\nprotected:\n- {key: a}\n- {key: b, value: c}\n", inModule: "readOnly: true\n"})
	p.Environ = append(p.Environ, "HTTPS_PROXY=http://me:hunter2@proxy:3128", "NO_COLOR=1")
	p.State, p.Kubectl = "/elsewhere", []string{"--token=s3cretvalue", "--as=ana"}
	got := listed(t, p)
	for name, want := range map[string]Setting{
		"state directory":         {Value: "/elsewhere", Source: "flag --state-dir"},
		"configuration directory": {Value: filepath.Join(root, "user", "handrail"), Source: "environment XDG_CONFIG_HOME"},
		"colour":                  {Value: "1", Source: "environment NO_COLOR"},
		"HTTPS_PROXY":             {Value: "http://***@proxy:3128", Source: "environment HTTPS_PROXY"},
		"token":                   {Value: "***", Source: "flag --token"},
		"as":                      {Value: "ana", Source: "flag --as"},
		"config.readOnlyContexts": {Value: "[prod]", Source: "machine", File: filepath.Join(root, ofMachine), Line: 3},
		"config.protected[1]":     {Value: "key: b, value: c", Source: "user", File: filepath.Join(root, ofUser), Line: 6},
		"config.readOnly":         {Value: "true", Source: "project", File: filepath.Join(root, inModule), Line: 3},
		"policy.secondPerson":     {Value: "none", Source: "default"},
	} {
		want.Name = name
		if len(got[name]) != 1 || got[name][0] != want {
			t.Errorf("%s = %+v, want %+v", name, got[name], want)
		}
	}
}

// TestSettingsNameWhatIsBroken, and claim nothing usual of it.
func TestSettingsNameWhatIsBroken(t *testing.T) {
	t.Parallel()
	p, root := placed(t, map[string]string{inProject: "readonly: true\n"})
	got := listed(t, p)
	s := got["config"]
	if len(s) != 1 || s[0].Line != 3 || s[0].File != filepath.Join(root, inProject) || !strings.Contains(s[0].Wrong, `did you mean "readOnly"?`) {
		t.Errorf("config = %+v", s)
	}
	if usual := got["config.readOnly"]; usual != nil {
		t.Errorf("config.readOnly = %+v beside a file that is not understood", usual)
	}
}
