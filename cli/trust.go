package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/closure"
	"handrail/tui"
)

func trustCommand(p *process.Program) *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Allow heavy probes, which run programs, in a directory",
		Long: `Some probes run a program in a directory, as tofu plan does. The files of that
directory decide what such a program starts, and the settings that init saved
there decide which servers are sent credentials of yours. So a directory must be
trusted once, and again when something of it changed.

A directory without Terraform is trusted for the steps of your own runbooks, which
run programs there and read its files.

trust shows what it would let be used: servers, files of profiles and keys,
programs. It runs nothing. What it trusts is the digest of every file below the
directory and of each of its modules, wherever they lie, of the settings in
.terraform, of the selection of providers, and of the CLI configuration. States,
saved plans, logs and lock descriptions may change, unless something runs them.
The list is kept in trust/ of the state directory, so that a change can be named.`,
		Args: process.Between(0, "DIR"),
	}
	cmd.Flags().BoolVar(&show, "show", false, "show what would be trusted, and trust nothing")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		now, list, err := shownDirectory(p, dir)
		if err != nil {
			return err
		}
		out, err := trustOf(p, now, list)
		if err != nil {
			return err
		}
		if show {
			fmt.Fprintf(p.Stderr, "Trusted nothing: it was a look at %s of %s.\n", process.Counted(now.count(), "file"), process.Safe(now.Dir))
		} else if err := trust(p, now, list); err != nil {
			return err
		} else {
			out.Trusted = true
		}
		return o.Print(p, out, func() error { return nil }) // a person has read it on stderr
	}
	return cmd
}

// manifest is what a trusted directory was when it was trusted.
type manifest struct {
	Version int               `json:"version"`
	Dir     string            `json:"dir"`
	Servers []string          `json:"servers,omitempty"` // that its settings name
	Files   map[string]string `json:"files"`
}

// encoded is a manifest as it is kept, and the digest that it is trusted by.
func (m manifest) encoded() (raw []byte, digest string, err error) {
	if raw, err = json.MarshalIndent(m, "", " "); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:]), nil
}

// count is how many files were read.
func (m manifest) count() int {
	n := 0
	for _, sum := range m.Files {
		if sum != closure.Absent {
			n++
		}
	}
	return n
}

// trustReview is a manifest and what else a person wants to see before they trust it.
type trustReview struct {
	manifest
	named     backend.Named
	programs  []string
	addresses []string
	bare      bool // it holds no .tf or .tofu file
}

// realDir is dir as it is trusted: absolute and without links.
func realDir(dir string) (string, error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err == nil && strings.ContainsAny(real, "\n\r") {
		err = fmt.Errorf("%q: a path with a line break cannot be trusted", real)
	}
	return real, err
}

// closureOf reads everything that decides what a program does in dir.
func closureOf(p *process.Program, dir string) (trustReview, error) {
	var l trustReview
	real, err := realDir(dir)
	if err != nil {
		return l, err
	}
	env, err := stepEnv(p)
	if err != nil {
		return l, err
	}
	if l.named, err = backend.NamedBy(env, real); err != nil {
		return l, err
	}
	c, err := closure.Of(closure.Place{Root: real, Data: l.named.Data, Beside: append(l.named.Files, l.named.CLI...)})
	if err != nil {
		return l, err
	}
	l.bare = c.Modules == 0
	l.manifest = manifest{Version: 1, Dir: real, Servers: l.named.Servers, Files: c.Files}
	l.programs, l.addresses = append(l.named.Programs, c.Programs...), c.Addresses
	return l, nil
}

// trustReport is the public form of what trust in a directory lets be used.
type trustReport struct {
	Dir     string      `json:"dir"`
	Digest  string      `json:"digest"`
	Files   int         `json:"files"`
	Trusted bool        `json:"trusted"`           // as it is now
	Changed string      `json:"changed,omitempty"` // since it was trusted before
	Uses    []trustUses `json:"uses"`
}

type trustUses struct {
	Title string   `json:"title"`
	List  []string `json:"list"`
}

func trustOf(p *process.Program, now trustReview, list map[string]string) (trustReport, error) {
	_, digest, err := now.encoded()
	out := trustReport{Dir: now.Dir, Digest: digest, Files: now.count(), Trusted: list[now.Dir] == digest, Uses: []trustUses{}}
	if was, known := list[now.Dir]; known && was != digest {
		out.Changed = p.ScrubText(since(p, was, now.manifest))
	}
	for _, u := range used(p, now) {
		out.Uses = append(out.Uses, trustUses{u.Title, u.List})
	}
	return out, err
}

// trust records that a directory that was shown may be used by heavy probes as it is now.
func trust(p *process.Program, now trustReview, list map[string]string) error {
	digest, err := keepTrust(p, now, list)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "Trusted %s as it is now: %s, digest %.12s. A change of any of them ends the trust.\n", process.Safe(now.Dir), process.Counted(now.count(), "file"), digest)
	return nil
}

// keepTrust adds what was looked at to the directories that are trusted.
func keepTrust(p *process.Program, now trustReview, list map[string]string) (digest string, err error) {
	raw, digest, err := now.encoded()
	if err != nil {
		return "", err
	}
	if err := saveManifest(p, now.Dir, raw); err != nil {
		return "", err
	}
	list[now.Dir] = digest
	return digest, saveTrusted(p, list)
}

// shownDirectory shows what trust in dir would let be used, and what changed since it was
// given before. It returns the directories that are trusted now.
func shownDirectory(p *process.Program, dir string) (trustReview, map[string]string, error) {
	now, err := closureOf(p, dir)
	if err != nil {
		next := "put that right, and look again with `handrail trust --show`"
		if errors.Is(err, fs.ErrNotExist) {
			next = "name a directory that is there"
		}
		return now, nil, &process.Problem{Code: process.ExitUsage, Err: err, Next: next}
	}
	list, err := trusted(p)
	if err != nil {
		return now, nil, err
	}
	uses(p, now)
	_, digest, err := now.encoded()
	if was, known := list[now.Dir]; known && err == nil && was != digest {
		fmt.Fprintf(p.Stderr, "It was trusted before. %s.\n", process.Safe(since(p, was, now.manifest)))
	}
	return now, list, err
}

// mostUses bounds the lines of one list.
const mostUses = 12

// uses shows what trust in a directory would let be used.
func uses(p *process.Program, l trustReview) {
	for _, u := range used(p, l) {
		fmt.Fprintln(p.Stderr, u.Title)
		for i, v := range u.List {
			if i == mostUses {
				fmt.Fprintf(p.Stderr, "  and %d more\n", len(u.List)-mostUses)
				break
			}
			fmt.Fprintf(p.Stderr, "  %s\n", process.Safe(v))
		}
	}
}

// used is what trust in a directory would let be used, without secrets.
func used(p *process.Program, l trustReview) []tui.Used {
	var out []tui.Used
	part := func(title string, list []string) {
		var shown []string
		for _, v := range list {
			shown = append(shown, p.ScrubText(v))
		}
		if len(shown) > 0 {
			out = append(out, tui.Used{Title: title, List: shown})
		}
	}
	if l.bare {
		part("It holds no .tf or .tofu file: only steps of your own runbooks (own/exec, own/file) run and read in", []string{l.Dir})
	}
	part("Servers that its settings name, which get the credentials that their backend uses, yours among them:", l.named.Servers)
	part("Addresses in its configuration, which its programs may speak to:", l.addresses)
	part("Files of profiles, keys and certificates that its settings name:", l.named.Files)
	part("Programs that its files name:", l.programs)
	var packages []string
	for _, name := range process.SortedKeys(l.Files) {
		_, rest, ok := strings.Cut(name, "/providers/")
		if !ok || !strings.HasPrefix(l.Files[name], "package") {
			continue
		}
		// tofu keeps a lock file beside each package.
		if of, isLock := strings.CutSuffix(name, ".lock"); isLock && l.Files[of] != "" {
			continue
		}
		packages = append(packages, rest)
	}
	part("Providers, which are programs:", packages)
	return out
}

// checkTrust says whether dir is trusted as it is now; the error says what to do.
func checkTrust(p *process.Program, dir string) error {
	real, err := realDir(dir)
	if err != nil {
		return err
	}
	list, err := trusted(p)
	if err != nil {
		return err
	}
	was, known := list[real]
	if !known { // a stranger's files are not even read
		return fmt.Errorf("%q is not trusted for programs that run there: look at its files, then `handrail trust %s`", real, real)
	}
	now, err := closureOf(p, real)
	if err != nil {
		return err
	}
	_, digest, err := now.encoded()
	if err != nil {
		return err
	}
	if digest != was {
		return fmt.Errorf("%q changed since it was trusted. %s: look at that, then `handrail trust %s`", now.Dir, since(p, was, now.manifest), now.Dir)
	}
	return nil
}

// everTrusted says whether dir, or one above it, was trusted at any time: what changed since
// decides what runs there, and not what may be read.
func everTrusted(p *process.Program, dir string) error {
	real, err := realDir(dir)
	if err != nil {
		return err
	}
	list, err := trusted(p)
	if err != nil {
		return err
	}
	for known := range list {
		if rel, err := filepath.Rel(known, real); err == nil && filepath.IsLocal(rel) {
			return nil
		}
	}
	return fmt.Errorf("look at its files, then `handrail trust %s`", real)
}

// since says what changed since a directory was trusted by a digest.
func since(p *process.Program, digest string, now manifest) string {
	was, err := manifestOf(p, now.Dir, digest)
	if err != nil {
		return "What changed is unknown, since " + err.Error()
	}
	return changes(was, now)
}

// mostChanges bounds the names of one sort of change.
const mostChanges = 6

// changes tells two manifests apart.
func changes(was, now manifest) string {
	sorts := []struct {
		says  string
		names []string
	}{{says: "Added"}, {says: "Changed"}, {says: "Removed"}, {says: "Servers that are new"}}
	for _, name := range process.SortedKeys(now.Files) {
		switch old, ok := was.Files[name]; {
		case old == now.Files[name]:
		case !ok || old == closure.Absent:
			sorts[0].names = append(sorts[0].names, name)
		case now.Files[name] != closure.Absent:
			sorts[1].names = append(sorts[1].names, name)
		}
	}
	for _, name := range process.SortedKeys(was.Files) {
		if sum, ok := now.Files[name]; (!ok || sum == closure.Absent) && was.Files[name] != closure.Absent {
			sorts[2].names = append(sorts[2].names, name)
		}
	}
	for _, server := range now.Servers {
		if !slices.Contains(was.Servers, server) {
			sorts[3].names = append(sorts[3].names, server)
		}
	}
	var parts []string
	for _, s := range sorts {
		if len(s.names) == 0 {
			continue
		}
		more := ""
		if n := len(s.names) - mostChanges; n > 0 {
			s.names, more = s.names[:mostChanges], fmt.Sprintf(" and %d more", n)
		}
		parts = append(parts, s.says+": "+strings.Join(s.names, ", ")+more)
	}
	if len(parts) == 0 {
		return "Something that is no file changed"
	}
	return strings.Join(parts, ". ")
}
