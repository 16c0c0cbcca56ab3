package cli

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"handrail/runbooks/strict"
	"handrail/tui"
)

// interfaceFile is how a person wants the screens: theme, signs, keys, and what is called production. It stands below
// handrail's folder of $XDG_CONFIG_HOME.
const interfaceFile = "interface.yaml"

// taste is the part of the interface that a person can choose.
type taste struct {
	theme  string
	signs  string // auto, unicode or ascii
	silent bool
	places []tui.Place
	keys   map[string][]string

	breakGlass string // label or annotation that marks break-glass, "" for the usual one
}

// taste reads the interface file. No file is the interface as it comes.
func (p *program) taste() (taste, error) {
	dir, err := p.xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return taste{}, nil // without a home there is no place where a file could be
	}
	return tasteIn(dir)
}

// tasteOfMachine reads the interface file of the machine; only its places count for everybody.
func (p *program) tasteOfMachine() (taste, error) {
	dir, err := p.ruling()[0].dir()
	if err != nil {
		return taste{}, err
	}
	return tasteIn(dir)
}

// tasteIn reads the interface file of a directory.
func tasteIn(dir string) (taste, error) {
	name := filepath.Join(dir, interfaceFile)
	src, err := readUpTo(name, strict.MaxSize+1)
	if errors.Is(err, fs.ErrNotExist) {
		return taste{}, nil
	}
	var f taste
	if err == nil {
		f, err = parseTaste(name, src)
	}
	if err != nil {
		return taste{}, &problem{code: ExitUsage, err: err, next: "mend the file or move it away"}
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
		f.breakGlass = r.Text(n, "breakGlass")
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

// drawn is a configuration of the screens with what the person and the terminal want of them.
func (p *program) drawn(c tui.Config) (tui.Config, error) {
	f, err := p.taste()
	if err != nil {
		return c, err
	}
	c.Now, c.Version, c.In, c.Out = p.now, buildVersion().String(), p.stdin, p.stdout
	c.NoColor = p.getenv("NO_COLOR") != ""
	c.Theme, c.Places, c.Keys, c.Silent = f.theme, f.places, f.keys, f.silent
	machine, err := p.tasteOfMachine()
	if err != nil {
		return c, err
	}
	if machine.places != nil {
		c.Places = append(usualOr(f.places), machine.places...)
	}
	c.ASCII = f.signs == "ascii" || f.signs != "unicode" && p.onlyASCII()
	if p.theme != "" {
		if !slices.Contains(tui.Themes(), p.theme) {
			return c, usage("one of "+strings.Join(tui.Themes(), ", "), "there is no theme %q", p.theme)
		}
		c.Theme = p.theme
	}
	return c, nil
}

// onlyASCII says that the terminal has no Unicode: the locale says another encoding, by the variables in the order of
// POSIX (XBD 8.2), or it is a console whose font lacks the signs.
func (p *program) onlyASCII() bool {
	if p.getenv("TERM") == "linux" {
		return true
	}
	for _, key := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(p.getenv(key)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false // nothing is said, as in most containers
}
