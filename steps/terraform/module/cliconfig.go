package module

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
)

// CLIConfig is where tofu and terraform look for their own configuration, present
// or not.
func CLIConfig(env steps.Env, dir string) []string {
	var list []string
	if name := env.Getenv("TF_CLI_CONFIG_FILE"); name != "" {
		name = steps.Below(dir, name)
		list = []string{name}
	} else if env.Home != "" {
		config := cmp.Or(env.Getenv("XDG_CONFIG_HOME"), filepath.Join(env.Home, ".config"))
		list = []string{filepath.Join(env.Home, ".tofurc"), filepath.Join(env.Home, ".terraformrc"), filepath.Join(config, "opentofu", "tofurc")}
		for _, at := range []string{filepath.Join(env.Home, ".terraform.d"), filepath.Join(config, "opentofu")} {
			for _, end := range []string{"*.tfrc", "*.tfrc.json"} {
				more, _ := filepath.Glob(filepath.Join(at, end))
				list = append(list, more...)
			}
		}
		// What login writes are tokens.
		list = slices.DeleteFunc(list, func(name string) bool { return filepath.Base(name) == "credentials.tfrc.json" })
	}
	for _, name := range slices.Clone(list) {
		list = append(list, builds(name)...)
	}
	return append(list, choosers(dir)...)
}

// choosers are the files by which version managers choose the program that stands
// for tofu, in dir and above it, present or not.
func choosers(dir string) []string {
	var list []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		for _, name := range []string{".tool-versions", ".mise.toml", "mise.toml", ".terraform-version", ".opentofu-version", ".tofu-version"} {
			list = append(list, filepath.Join(at, name))
		}
		if at == filepath.Dir(at) {
			return list
		}
	}
}

var quotedPath = regexp.MustCompile(`"([^"\n]+)"`)

// builds are the files of the directories that stand for providers: no checksum of
// a lock file holds them.
func builds(name string) []string {
	raw, err := ReadSmall(name)
	if err != nil || !strings.Contains(string(raw), "dev_overrides") {
		return nil
	}
	var out []string
	for _, m := range quotedPath.FindAllStringSubmatch(string(raw), -1) {
		entries, err := os.ReadDir(m[1])
		if err != nil || !filepath.IsAbs(m[1]) {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "terraform-provider-") {
				out = append(out, filepath.Join(m[1], e.Name()))
			}
		}
	}
	return out
}
