package form

import (
	"maps"
	"testing"
)

// TestPairs: a line that begins with the name of another takes several apart; any other is
// what it says.
func TestPairs(t *testing.T) {
	t.Parallel()
	names := []string{"dir", "name", "patch", "copied", "wanted"}
	for line, want := range map[string]map[string]string{
		"name=web wanted=redis":                                    {"name": "web", "wanted": "redis"},
		"-p name=web  -p wanted='a b'":                             {"name": "web", "wanted": "a b"},
		`patch=[{"op":"replace","path":"/a","value":"x y"}] dir=.`: {"patch": `[{"op":"replace","path":"/a","value":"x y"}]`, "dir": "."},
		"copied=spec.env[name=HOST].value name=web":                {"copied": "spec.env[name=HOST].value", "name": "web"},
		"name=":          {"name": ""},
		"name=web x=1":   {"name": "web x=1"},
		"web name=x":     nil,
		"x=1 name=web":   nil,
		"":               nil,
		"a.b[name=HOST]": nil,
	} {
		if got := pairs(line, names); !maps.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("pairs(%q) = %q, want %q", line, got, want)
		}
	}
}

// TestPairsBehindAValue: pairs that are typed behind what a line was filled with are taken apart,
// and that stays.
func TestPairsBehindAValue(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{
		"/srv/netvar_file=new.tfvars":           {"/srv/net", "new.tfvars"},
		"/srv/net var_file=new.tfvars":          {"/srv/net", "new.tfvars"},
		"var_file=new.tfvars":                   {"/srv/net", "new.tfvars"},
		"/srv/netdir=/srv/db var_file=a.tfvars": {"/srv/db", "a.tfvars"},
		"/srv/db":                               {"/srv/db", ""},
		"/srv/nets":                             {"/srv/nets", ""},
	} {
		dir, file := Named("dir", "dir", "", false), Named("var_file", "var_file", "", false)
		dir.Fill("/srv/net")
		f := &Form{Pairs: true, Fields: []Field{dir, file}}
		f.Fields[0].Edit.Set(line)
		spread := f.spread()
		if got := [2]string{f.Fields[0].value(), f.Fields[1].value()}; got != want || spread != (want[1] != "") {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// FuzzPairs: what is taken apart was in the line, under the names that are known.
func FuzzPairs(f *testing.F) {
	f.Add("-p name=web dir='.'")
	f.Fuzz(func(t *testing.T, line string) {
		for name := range pairs(line, []string{"name", "dir"}) {
			if name != "name" && name != "dir" {
				t.Errorf("%q gives %s", line, name)
			}
		}
	})
}

// TestPairsBehindATypedValue: the value that was typed before what it says of others stays; a
// patch, which may hold a name and an = itself, is left whole.
func TestPairsBehindATypedValue(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{
		"baseline app=web":       {"baseline", "web"},
		"baseline -p app='a b'":  {"baseline", "a b"},
		"a b app=web":            {"a b app=web", ""},
		`[{"op":"test"}] app=x`:  {`[{"op":"test"}] app=x`, ""},
		"baseline other=web":     {"baseline other=web", ""},
		"baseline app":           {"baseline app", ""},
		"env[name=HOST] app=web": {"env[name=HOST] app=web", ""},
	} {
		f := &Form{Pairs: true, Fields: []Field{Named("quota", "quota", "", false), Named("app", "app", "", false)}}
		f.Fields[0].Edit.Set(line)
		spread := f.spread()
		if got := [2]string{f.Fields[0].value(), f.Fields[1].value()}; got != want || spread != (want[1] != "") {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestSeveralLinesAreNoPath: a text of several lines is refused in a line that takes a path, but
// for one that says name=value of the lines.
func TestSeveralLinesAreNoPath(t *testing.T) {
	t.Parallel()
	list := Named("list", "list", "", false)
	list.Lines = "list is the path of a file."
	f := &Form{Pairs: true, Fields: []Field{list, Named("app", "app", "", false)}}
	f.Paste("alias-ada\nalias-bea\n")
	if f.Fields[0].value() != "" || f.wrong != list.Lines {
		t.Errorf("taken as %q, said %q", f.Fields[0].value(), f.wrong)
	}
	f.Paste("list=a.txt\napp=web\n")
	if !f.spread() || f.Fields[0].value() != "a.txt" || f.Fields[1].value() != "web" {
		t.Errorf("pairs give %q and %q", f.Fields[0].value(), f.Fields[1].value())
	}
}
