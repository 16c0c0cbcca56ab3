package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"handrail/cli/process"
	"handrail/steps"
	"handrail/steps/strict"
)

// ConfigFile closes gates. It stands below handrail's folder of $XDG_CONFIG_HOME, below that of the machine, and as
// .handrail/config.yaml in the repository of a project. Wherever it stands it only tightens: what one file closes no
// other opens.
const ConfigFile = "config.yaml"

// projectDir is the folder of a repository in which its file stands.
const projectDir = ".handrail"

// config is what one file says.
type config struct {
	of   string // whose it is: the machine, the user, the project
	file string
	at   *strict.Node // the document, for the lines of its keys

	ReadOnly     bool         `key:"readOnly" as:"only true"`
	Contexts     []string     `key:"readOnlyContexts" of:"a context"`
	Markers      []marker     `key:"protected" of:"a marker"`
	SecondPerson []secondForm `key:"secondPerson" of:"a rule"`
}

// configs are the files in force for a gate in these directories. A file that cannot be read or understood is an error:
// what it would have closed is not known.
func configs(p *process.Program, dirs []string) ([]config, error) {
	var out []config
	for _, at := range rulesDirs(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", ConfigFile, err)
		}
		c, found, err := readConfig(at.of, filepath.Join(dir, ConfigFile))
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, c)
		}
	}
	seen := map[string]bool{}
	for _, dir := range dirs {
		files, err := projectFiles(dir)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if seen[file] {
				continue
			}
			seen[file] = true
			c, _, err := readConfig("project", file)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func readConfig(of, file string) (out config, found bool, err error) {
	out.of, out.file = of, file
	const what = "a configuration file"
	src, found, err := readSource(file, what)
	if err != nil || !found {
		return out, found, err
	}
	forms := map[string]strict.Form{"gates": gates, "only true": onlyTrue}
	if err := (&strict.Reader{File: file, What: what, Forms: forms}).Envelope(src, "Config", &out); err != nil {
		return out, true, err
	}
	out.at = (&strict.Reader{File: file, What: what}).Document(src)
	return out, true, nil
}

// line is where a file says something.
func (c config) line(key string) string { return fmt.Sprintf("%s:%d", c.file, lineOf(c.at, key)) }

// lineOf is the line of a key of a mapping.
func lineOf(n *strict.Node, key string) int {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i].Line
		}
	}
	return 1
}

// onlyTrue is a switch that closes: a file that says false would seem to open.
func onlyTrue(r *strict.Reader, n *strict.Node, what string) any {
	if r.Flag(n, what) {
		return true
	}
	r.Fail(n, "leave it out: a file of handrail can close gates, and open none", "%s can only be true", what)
	return nil
}

// projectFiles are the files of the repository that holds dir, the nearest first: from dir up to the root of the
// repository. Outside of one, dir alone is looked at: what lies above belongs to others. Links are resolved first, since
// what they lead to is the module.
func projectFiles(dir string) ([]string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no module, and so no gate of one
	}
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the file of the project: %w", err)
	}
	var out []string
	for at := real; ; at = filepath.Dir(at) {
		file := filepath.Join(at, projectDir, ConfigFile)
		there, err := regular(file)
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, file)
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return out, nil
		}
		if at == filepath.Dir(at) { // there is no repository
			if there, err := regular(filepath.Join(real, projectDir, ConfigFile)); err != nil || !there {
				return nil, err
			}
			return []string{filepath.Join(real, projectDir, ConfigFile)}, nil
		}
	}
}

// regular reports whether there is a file. A link in a stranger's repository may lead anywhere, and is refused.
func regular(file string) (bool, error) {
	for _, name := range []string{filepath.Dir(file), file} {
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("looking for the file of the project: %w", err)
		case name == file && !info.Mode().IsRegular(), name != file && !info.IsDir():
			return false, fmt.Errorf("%q is a link or a special file, and is not read: put a plain file there", name)
		}
	}
	return true, nil
}

// moduleDirs are the directories that a gate is about: where handrail was started, and those that its target names.
func moduleDirs(p *process.Program, target []steps.KV) ([]string, error) {
	dir, err := p.WorkDir()
	if err != nil {
		return nil, err
	}
	out := []string{dir}
	for _, kv := range target {
		if kv.Key == "directory" && filepath.IsAbs(kv.Value) {
			out = append(out, kv.Value)
		}
	}
	return out, nil
}
