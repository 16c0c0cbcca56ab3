package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/steps"
	"handrail/steps/terraform/tool"
)

const variablesHead = "apiVersion: handrail/v1\nkind: Variables\n"

// variablesWorld is a program with a home and a machine, and a way to write files below them.
func variablesWorld(t *testing.T, environ ...string) (*process.Program, func(name, text string)) {
	t.Helper()
	dir := t.TempDir()
	p := &process.Program{Environ: append([]string{"HOME=" + dir, "PATH=/usr/bin"}, environ...), Machine: filepath.Join(dir, "machine")}
	return p, func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVariablesFile: what a team names reaches the program, and its value is hidden unless the file
// says otherwise. Without the file it is kept back.
func TestVariablesFile(t *testing.T) {
	t.Parallel()
	p, write := variablesWorld(t, "RECORDS_WORD=open sesame", "RECORDS_API=https://records.example", "RECORDS_OTHER=kept back")
	env, err := stepEnv(p)
	if err != nil {
		t.Fatal(err)
	}
	handed := func() []string {
		return slices.DeleteFunc(tool.Env(env), func(kv string) bool { return !strings.HasPrefix(kv, "RECORDS_") })
	}
	if got := handed(); len(got) > 0 {
		t.Errorf("without a file: %q", got)
	}
	write(".config/handrail/variables.yaml", variablesHead+"variables:\n- name: RECORDS_WORD\n- {name: RECORDS_API, shown: true}\n")
	if got, want := handed(), []string{"RECORDS_WORD=open sesame", "RECORDS_API=https://records.example"}; !slices.Equal(got, want) {
		t.Errorf("handed on: %q, want %q", got, want)
	}
	if got, want := tool.Secrets(env), []string{"open sesame"}; !slices.Equal(got, want) {
		t.Errorf("secrets: %q, want %q", got, want)
	}
	if got := settings.KnownSecrets(p); !slices.Contains(got, "open sesame") || slices.Contains(got, "https://records.example") {
		t.Errorf("known secrets: %q", got)
	}
	if c := settings.CheckVariables(p); c.State != "ok" || !strings.Contains(c.Detail, "2 variables of the team") {
		t.Errorf("doctor: %+v", c)
	}
	write("machine/variables.yaml", variablesHead+"variables:\n- name: RECORDS_API\n")
	if got := tool.Secrets(env); !slices.Contains(got, "https://records.example") {
		t.Errorf("the machine hides it, and the user shows it: %q", got)
	}
	write(".config/handrail/brokers.yaml", "apiVersion: handrail/v1\nkind: Brokers\nbrokers:\n- {url: 'https://broker.example', user: u, password_env: RECORDS_WORD}\n")
	if got := handed(); len(got) > 0 {
		t.Errorf("the password of a broker is handed on: %q", got)
	}
	if said := tool.Withheld(env, []byte("set RECORDS_WORD")); !strings.Contains(said, "holds the password of a broker") {
		t.Errorf("nothing says why: %q", said)
	}
}

// TestVariablesFileRefuses: a file hands on no variable that steers what runs, and half a file none.
func TestVariablesFileRefuses(t *testing.T) {
	t.Parallel()
	p, write := variablesWorld(t, "RECORDS_API=x")
	for text, want := range map[string]string{
		"variables: []\n": "apiVersion is missing",
		variablesHead:     "variables is missing",
		variablesHead + "variables: [{shown: true}]\n":          "name is missing",
		variablesHead + "variables: [{name: A_B, show: true}]":  "show",
		variablesHead + "variables: [{name: A_B, shown: yes}]":  "shown",
		variablesHead + "variables: [{name: A_B}, {name: A_B}]": "named twice",
		variablesHead + "variables: [RECORDS_API]\n":            "a variable",
	} {
		write(".config/handrail/variables.yaml", text)
		if got, err := settings.Variables(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_apply", "TF_PLUGIN_MAGIC", "TF_LOG_PATH", "TF_REATTACH_PROVIDERS", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES",
		"PATH", "HOME", "ENV", "GODEBUG", "PLUGIN_PROTOCOL_VERSIONS", "GIT_SSH_COMMAND", "BASH_ENV", "BASH_FUNC_x%%", "NODE_OPTIONS", "ALL_PROXY", "HANDRAIL_BROKERS",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "TFENV_REMOTE", "records_api", "RECORDS_", "_RECORDS", "RECORDS_API=x", "A_B\n"} {
		write(".config/handrail/variables.yaml", variablesHead+"variables:\n- name: RECORDS_API\n- name: "+"'"+strings.ReplaceAll(name, "\n", "\n\n")+"'\n")
		if got, err := settings.Variables(p); err == nil {
			t.Errorf("%q is handed on: %v", name, got)
		}
		env := steps.Env{Environ: []string{"RECORDS_API=x", name + "=y"}, Passed: func() ([]steps.Passed, error) {
			return []steps.Passed{{Name: name}}, nil
		}}
		if got := tool.Env(env); name != "PATH" && name != "HOME" && slices.Contains(got, name+"=y") {
			t.Errorf("a program gets %q: %q", name, got)
		}
	}
	if c := settings.CheckVariables(p); c.State != "bad" {
		t.Errorf("doctor: %+v", c)
	}
}

// TestProjectHandsOnNothing: the file of a repository names no variable.
func TestProjectHandsOnNothing(t *testing.T) {
	t.Parallel()
	p, write := variablesWorld(t, "RECORDS_API=x")
	write("repo/.git/HEAD", "ref: refs/heads/main\n")
	write("repo/.handrail/variables.yaml", variablesHead+"variables:\n- name: RECORDS_API\n")
	p.Dir = filepath.Join(p.Home(), "repo")
	if got, err := settings.Variables(p); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
