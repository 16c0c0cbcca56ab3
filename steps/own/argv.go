package own

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/steps"
)

// shells run what they are given as a program: a value from elsewhere would be run too.
var shells = regexp.MustCompile(`^(?:(?:ba|da|z|k|mk|c|tc|fi|a)?sh|busybox|env|xargs|find|timeout|nice|nohup|setsid|stdbuf|watch|ssh|eval|[gmn]?awk|(?:python|perl|ruby|node|php|lua|deno|bun|tclsh|pwsh)[0-9.]*|sudo|doas|su|pkexec|runuser|systemd-run|docker|podman|nsenter|chroot|unshare)$`)

// raisers hand the program to another one, with more rights or outside of the sandbox.
var raisers = regexp.MustCompile(`^(?:sudo|doas|su|pkexec|runuser|systemd-run|at|batch|crontab)$`)

// vetArgv says why an argument list cannot stand as written.
func vetArgv(argv []steps.Written) error {
	if len(argv) == 0 {
		return errors.New("an argument list begins with the program")
	}
	name := argv[0]
	base := filepath.Base(filepath.FromSlash(name.Text))
	switch {
	case len(argv) > mostArgs:
		return fmt.Errorf("%d arguments, more than %d", len(argv), mostArgs)
	case !name.Fixed:
		return errors.New("the program itself takes no ${…}: what runs is the runbook's to say")
	case strings.TrimSpace(name.Text) == "" || strings.HasPrefix(name.Text, "-"):
		return fmt.Errorf("%q is no program", name.Text)
	case strings.ContainsAny(name.Text, " \t") && len(argv) == 1:
		return fmt.Errorf("%q is one word here: give each argument as an item of its own, as in [%s]", name.Text, strings.Join(strings.Fields(name.Text), ", "))
	case raisers.MatchString(base):
		return fmt.Errorf("%s hands the program to another one, out of what keeps it from writing: name the program itself", base)
	case !shells.MatchString(base):
		return nil
	}
	for _, a := range argv[1:] {
		if !a.Fixed {
			return fmt.Errorf("%s runs what it is given, so it takes no ${…} (%s): let a program of its own take the value", base, a.Text)
		}
	}
	return nil
}
