package settings

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/steps/strict"
	"handrail/tui"
)

// InterfaceFile is how a person wants the screens: theme, signs, keys, and what is called production. It stands below
// handrail's folder of $XDG_CONFIG_HOME.
const InterfaceFile = "interface.yaml"

// taste is the part of the interface that a person can choose.
type taste struct {
	theme  string
	signs  string // auto, unicode or ascii
	silent bool
	places []tui.Place
	keys   map[string][]string

	BreakGlass string // label or annotation that marks break-glass, "" for the usual one
}

// Taste reads the interface file. No file is the interface as it comes.
func Taste(p *process.Program) (taste, error) {
	dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return taste{}, nil // without a home there is no place where a file could be
	}
	return tasteIn(dir)
}

// tasteOfMachine reads the interface file of the machine; only its places count for everybody.
func tasteOfMachine(p *process.Program) (taste, error) {
	dir, err := ruling(p)[0].dir()
	if err != nil {
		return taste{}, err
	}
	return tasteIn(dir)
}

// tasteIn reads the interface file of a directory.
func tasteIn(dir string) (taste, error) {
	name := filepath.Join(dir, InterfaceFile)
	src, err := ReadUpTo(name, strict.MaxSize+1)
	if errors.Is(err, fs.ErrNotExist) {
		return taste{}, nil
	}
	var f taste
	if err == nil {
		f, err = parseTaste(name, src)
	}
	if err != nil {
		return taste{}, &process.Problem{Code: process.ExitUsage, Err: err, Next: "mend the file or move it away"}
	}
	return f, nil
}

func parseTaste(name string, src []byte) (taste, error) {
	r := &strict.Reader{File: name, What: "an interface file"}
	doc := r.Document(src)
	if doc == nil {
		return taste{}, r.Problems.Sorted()
	}
	top := r.Fields(doc, "an interface file", "apiVersion", "kind", "theme", "signs", "bell", "places", "keys", "breakGlass")
	for _, want := range [...]struct{ key, value string }{{"apiVersion", "handrail/v1"}, {"kind", "Interface"}} {
		if n := top[want.key]; n == nil {
			r.Fail(doc, "write "+want.key+": "+want.value, "%s is missing", want.key)
		} else {
			r.OneOf(n, want.key, []string{want.value})
		}
	}
	var f taste
	if n := top["theme"]; n != nil {
		f.theme = r.OneOf(n, "theme", tui.Themes())
	}
	if n := top["signs"]; n != nil {
		f.signs = r.OneOf(n, "signs", []string{"auto", "unicode", "ascii"})
	}
	if n := top["bell"]; n != nil {
		f.silent = !r.Flag(n, "bell")
	}
	if n := top["breakGlass"]; n != nil {
		f.BreakGlass = r.Text(n, "breakGlass")
	}
	if n := top["places"]; n != nil {
		f.places = []tui.Place{}
		for _, item := range r.Items(n, "places") {
			got := r.Fields(item, "a place", "label", "pattern")
			if got["label"] == nil || got["pattern"] == nil {
				r.Fail(item, "a place has a label and a pattern", "half of a place")
				continue
			}
			label, expr := r.Text(got["label"], "label"), r.Text(got["pattern"], "pattern")
			re, err := regexp.Compile(expr)
			if err != nil {
				r.Fail(got["pattern"], "", "%v", err)
				continue
			}
			f.places = append(f.places, tui.Place{Label: label, Pattern: re})
		}
	}
	if n := top["keys"]; n != nil {
		f.keys = map[string][]string{}
		got := r.Fields(n, "a key map", tui.Commands()...)
		for _, command := range slices.Sorted(maps.Keys(got)) {
			for _, item := range r.Items(got[command], command) {
				f.keys[command] = append(f.keys[command], r.Text(item, command))
			}
		}
		if err := tui.CheckKeys(f.keys); err != nil && len(r.Problems) == 0 {
			r.Fail(n, "see the keys with ? on any screen", "%v", err)
		}
	}
	return f, r.Problems.Sorted()
}

// Drawn is a configuration of the screens with what the person and the terminal want of them.
func Drawn(p *process.Program, c tui.Config) (tui.Config, error) {
	f, err := Taste(p)
	if err != nil {
		return c, err
	}
	c.Now, c.Version, c.In, c.Out = p.Now, process.BuildVersion().String(), p.Stdin, p.Stdout
	c.NoColor = p.Getenv("NO_COLOR") != ""
	c.Theme, c.Places, c.Keys, c.Silent = f.theme, f.places, f.keys, f.silent
	machine, err := tasteOfMachine(p)
	if err != nil {
		return c, err
	}
	if machine.places != nil {
		c.Places = append(UsualOr(f.places), machine.places...)
	}
	c.ASCII = f.signs == "ascii" || f.signs != "unicode" && onlyASCII(p)
	if p.Theme != "" {
		if !slices.Contains(tui.Themes(), p.Theme) {
			return c, process.Usage("one of "+strings.Join(tui.Themes(), ", "), "there is no theme %q", p.Theme)
		}
		c.Theme = p.Theme
	}
	return c, nil
}

// onlyASCII says that the terminal has no Unicode: the locale says another encoding, by the variables in the order of
// POSIX (XBD 8.2), or it is a console whose font lacks the signs.
func onlyASCII(p *process.Program) bool {
	if p.Getenv("TERM") == "linux" {
		return true
	}
	for _, key := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(p.Getenv(key)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false // nothing is said, as in most containers
}
