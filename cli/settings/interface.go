package settings

import (
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

// preferences is the part of the interface that a person can choose.
type preferences struct {
	theme  string
	signs  string // auto, unicode or ascii
	silent bool
	places []tui.Place
	keys   map[string][]string

	BreakGlass         string // label or annotation that marks break-glass, "" for the usual one
	BreakGlassRegister string // path of the register of break-glass sessions, "" for none
}

// Preferences reads the interface file. No file is the interface as it comes.
func Preferences(p *process.Program) (preferences, error) {
	dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return preferences{}, nil // without a home there is no place where a file could be
	}
	return preferencesIn(dir)
}

// machinePreferences reads the interface file of the machine; only its places count for all users.
func machinePreferences(p *process.Program) (preferences, error) {
	dir, err := rulesDirs(p)[0].dir()
	if err != nil {
		return preferences{}, err
	}
	return preferencesIn(dir)
}

// preferencesIn reads the interface file of a directory.
func preferencesIn(dir string) (preferences, error) {
	var f struct {
		Theme      string              `key:"theme" as:"theme"`
		Signs      string              `key:"signs" oneof:"auto unicode ascii"`
		Bell       *bool               `key:"bell"`
		Places     []place             `key:"places" of:"a place"`
		Keys       map[string][]string `key:"keys" as:"keys"`
		BreakGlass string              `key:"breakGlass"`
		Register   string              `key:"breakGlassRegister"`
	}
	forms := map[string]strict.Form{"keys": keyMap, "regexp": expression, "theme": theme}
	if _, err := read(filepath.Join(dir, InterfaceFile), "an interface file", "Interface", forms, &f); err != nil {
		return preferences{}, &process.Problem{Code: process.ExitUsage, Err: err, Next: "fix the file or move it away"}
	}
	out := preferences{theme: f.Theme, signs: f.Signs, silent: f.Bell != nil && !*f.Bell, keys: f.Keys, BreakGlass: f.BreakGlass, BreakGlassRegister: f.Register}
	if f.Register != "" && !filepath.IsAbs(f.Register) {
		out.BreakGlassRegister = filepath.Join(dir, f.Register)
	}
	if f.Places != nil {
		out.places = []tui.Place{}
	}
	for _, p := range f.Places {
		out.places = append(out.places, tui.Place(p))
	}
	return out, nil
}

type place struct {
	Label   string         `key:"label,required" hint:"a place has a label and a pattern"`
	Pattern *regexp.Regexp `key:"pattern,required" as:"regexp" hint:"a place has a label and a pattern"`
}

func theme(r *strict.Reader, n *strict.Node, what string) any { return r.OneOf(n, what, tui.Themes()) }

func expression(r *strict.Reader, n *strict.Node, what string) any {
	re, err := regexp.Compile(r.Text(n, what))
	if err != nil {
		r.Fail(n, "", "%v", err)
		return nil
	}
	return re
}

// keyMap reads the keys of commands.
func keyMap(r *strict.Reader, n *strict.Node, _ string) any {
	before := len(r.Problems)
	out := map[string][]string{}
	for command, keys := range r.Fields(n, "a key map", tui.Commands()...) {
		for _, item := range r.Items(keys, command) {
			out[command] = append(out[command], r.Text(item, command))
		}
	}
	if err := tui.CheckKeys(out); err != nil && len(r.Problems) == before {
		r.Fail(n, "see the keys with ? on any screen", "%v", err)
	}
	return out
}

// ScreenConfig is a configuration of the screens with what the person and the terminal want of them.
func ScreenConfig(p *process.Program, c tui.Config) (tui.Config, error) {
	f, err := Preferences(p)
	if err != nil {
		return c, err
	}
	c.Now, c.Version, c.In, c.Out = p.Now, process.BuildVersion().String(), p.Stdin, p.Stdout
	c.NoColor, c.Ground = p.Getenv("NO_COLOR") != "", tui.GroundOf(p.Getenv("COLORFGBG"))
	c.Theme, c.Places, c.Keys, c.Silent = f.theme, f.places, f.keys, f.silent
	machine, err := machinePreferences(p)
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
