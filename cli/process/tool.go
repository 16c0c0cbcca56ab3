package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tool finds a program. tofu and terraform stand for each other where only one is
// there; what --program names is the one for both.
func (p *Program) Tool(name string) (string, error) {
	if path, ok := p.Tools[name]; ok {
		return path, nil
	}
	names := []string{name}
	switch {
	case name != "tofu" && name != "terraform":
	case p.Tofu == "tofu" || p.Tofu == "terraform":
		names = []string{p.Tofu}
	case p.Tofu != "":
		path, err := filepath.Abs(p.Tofu)
		if err == nil {
			err = runnable(path)
		}
		if err != nil {
			return "", fmt.Errorf("--program: %w", err)
		}
		return path, nil
	case name == "tofu":
		names = []string{"tofu", "terraform"}
	default:
		names = []string{"terraform", "tofu"}
	}
	path := p.Getenv("PATH")
	for _, n := range names {
		for _, dir := range filepath.SplitList(path) {
			// An empty or relative entry means the working directory, where a
			// stranger's clone may have put anything.
			if full := filepath.Join(dir, n); filepath.IsAbs(dir) && runnable(full) == nil {
				return full, nil
			}
		}
	}
	return "", fmt.Errorf("%w: none in a directory of PATH (%s); install it or name it with --program",
		errNoTool(names), path)
}

func errNoTool(names []string) error {
	return fmt.Errorf("no %s: %w", strings.Join(names, " or "), exec.ErrNotFound)
}

func runnable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%q is not a program", path)
	}
	return nil
}
