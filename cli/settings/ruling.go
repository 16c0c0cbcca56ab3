package settings

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"handrail/cli/process"
	"handrail/steps"
)

// Files that rule gates, and what runs behind them, stand in two places: below /etc, for all users of the machine, and below the user's own
// configuration. What the machine's say holds whatever the user's say.

// machineConfig is where the files of the machine are.
const machineConfig = "/etc/handrail"

// rulesDir is one of the two places.
type rulesDir struct {
	of  string // as the journal calls it
	dir func() (string, error)
}

// rulesDirs are the places, the one that cannot be loosened first.
func rulesDirs(p *process.Program) []rulesDir {
	machine := p.Machine
	if machine == "" {
		machine = machineConfig
	}
	return []rulesDir{
		{"machine", func() (string, error) { return machine, nil }},
		{"user", func() (string, error) { return p.Xdg("XDG_CONFIG_HOME", ".config") }},
	}
}

// Rules are the files that rule gates, by digest, or that there are none: what was in force is part of the record.
func Rules(p *process.Program) []steps.KV {
	var out []steps.KV
	for _, at := range rulesDirs(p) {
		dir, err := at.dir()
		for _, name := range []string{PolicyFile, ProtectedFile, InterfaceFile, ConfigFile, VariablesFile} {
			kv := steps.KV{Key: name + " of the " + at.of}
			if err != nil {
				kv.Value = "unknown: " + err.Error()
			} else {
				kv.Value = digestOf(filepath.Join(dir, name))
			}
			out = append(out, kv)
		}
	}
	out = append(out, projectRules(p)...)
	list, err := Policies(p)
	if err != nil {
		return append(out, steps.KV{Key: "approvers", Value: "unknown: " + err.Error()})
	}
	for _, pol := range list {
		out = append(out, steps.KV{Key: "approvers " + pol.Approvers, Value: digestOf(pol.Approvers)})
	}
	return out
}

// projectRules are the files of the project that handrail was started in; where there is none, nothing.
func projectRules(p *process.Program) []steps.KV {
	dirs, err := moduleDirs(p, nil)
	var files []string
	if err == nil {
		files, err = projectFiles(dirs[0])
	}
	if err != nil {
		return []steps.KV{{Key: ConfigFile + " of the project", Value: "unknown: " + err.Error()}}
	}
	var out []steps.KV
	for _, file := range files {
		out = append(out, steps.KV{Key: ConfigFile + " of the project " + file, Value: digestOf(file)})
	}
	return out
}

// maxRuling bounds a file whose digest is taken.
const maxRuling = 4 << 20

// digestOf is the SHA-256 of a file, none where it is not there.
func digestOf(name string) string {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	sum := sha256.New()
	if err == nil {
		_, err = io.Copy(sum, io.LimitReader(f, maxRuling))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "unknown: " + err.Error()
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil))
}
