package forge

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestOwnerDemands: what a file of code owners asks for is what its forge takes of it.
func TestOwnerDemands(t *testing.T) {
	hub := strings.Join([]string{"# all", "*       @all", "*.js  @js #comment", "/build/logs/ @log", "docs/*  docs@example.com", "apps/ @app", "/scripts/ @a @org/team", "**/logs @deep",
		"/apps/github", `my\ file.txt @space`, "!*.md @no", "src/[ab].go @no", "/vendor/** @vendor"}, "\n")
	lab := "*.rb @ruby\n[Docs][2] @docs-team\ndocs/\nREADME.md @ann @ben\n^[Maybe]\n*.rb @maybe\n[Docs]\n!docs/gen.md\n[No owner]\n*.rb\n"
	tea := "env/prod/.* @bob\n!docs/.* @all # but docs\n(a|b)\\.go @eve\n( @no\nnone\n"
	for name, tc := range map[string]struct {
		of    vendor
		text  string
		files []string
		want  []string
	}{
		"the last rule counts":              {github, hub, []string{"a/b.js"}, []string{"*.js: @js"}},
		"any file":                          {github, hub, []string{"main.tf"}, []string{"*: @all"}},
		"a rooted folder":                   {github, hub, []string{"build/logs/x/y.txt"}, []string{"**/logs: @deep"}},
		"a folder of that name elsewhere":   {github, hub, []string{"a/build/logs2/y.txt"}, []string{"*: @all"}},
		"dir/* reaches no deeper":           {github, hub, []string{"docs/a.md", "docs/b/c.md"}, []string{"*: @all", "docs/*: docs@example.com"}},
		"a folder anywhere":                 {github, hub, []string{"x/apps/y"}, []string{"apps/: @app"}},
		"a rule without owners takes away":  {github, hub, []string{"apps/github/main.go"}, nil},
		"a space":                           {github, hub, []string{"x/my file.txt"}, []string{"my file.txt: @space"}},
		"what GitHub does not know":         {github, hub, []string{"README.md", "src/a.go"}, []string{"*: @all"}},
		"two stars at the end":              {github, hub, []string{"vendor/a/b", "vendor"}, []string{"*: @all", "/vendor/**: @vendor"}},
		"no file":                           {github, "", []string{"a"}, nil},
		"each section of GitLab":            {gitlab, lab, []string{"docs/a.rb"}, []string{"*.rb: @ruby", "docs/: @docs-team"}},
		"an exclusion":                      {gitlab, lab, []string{"docs/gen.md"}, nil},
		"owners of a line before a section": {gitlab, lab, []string{"x/README.md"}, []string{"README.md: @ann @ben"}},
		"Gitea takes every rule":            {gitea, tea, []string{"env/prod/main.tf"}, []string{"!docs/.*: @all", "env/prod/.*: @bob"}},
		"the whole path":                    {gitea, tea, []string{"docs/env/prod/main.tf"}, nil},
		"an escape is taken away":           {gitea, tea, []string{"docs/x", "a-go"}, []string{"!docs/.*: @all", "(a|b).go: @eve"}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := parseOwners(tc.of, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ownerDemands(tc.of, rules, tc.files)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, d := range got {
				lines = append(lines, d.String())
			}
			if !slices.Equal(lines, tc.want) {
				t.Errorf("%q, want %q", lines, tc.want)
			}
		})
	}
}

// TestOwnersApproved: a group leaves open whether one who approved is in it, and never says yes.
func TestOwnersApproved(t *testing.T) {
	two := demand{"docs/", []string{"@ann", "@ben", "@cid"}, 2}
	for name, tc := range map[string]struct {
		of   vendor
		d    demand
		who  []string
		want bool
		open bool
	}{
		"an owner":               {github, demand{"*", []string{"@Ann"}, 1}, []string{"ann"}, true, false},
		"another":                {github, demand{"*", []string{"@ann"}, 1}, []string{"anne"}, false, false},
		"a team, and an owner":   {github, demand{"*", []string{"@org/team", "@ann"}, 1}, []string{"ann"}, true, false},
		"a team, and another":    {github, demand{"*", []string{"@org/team"}, 1}, []string{"bob"}, false, true},
		"a team, and none":       {github, demand{"*", []string{"@org/team"}, 1}, nil, false, false},
		"an address":             {github, demand{"*", []string{"a@example.com"}, 1}, []string{"bob"}, false, true},
		"one of two":             {gitlab, two, []string{"ann"}, false, false},
		"two of two":             {gitlab, two, []string{"ann", "cid"}, true, false},
		"GitLab: maybe a group":  {gitlab, two, []string{"ann", "dan"}, false, true},
		"Gitea: a person's name": {gitea, demand{"x", []string{"@bob"}, 1}, []string{"ann"}, false, false},
	} {
		ok, err := tc.d.met(tc.of, tc.who)
		if ok != tc.want || errors.Is(err, errMembership) != tc.open {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// FuzzOwners: no file of code owners ends the process, and no approval comes of none.
func FuzzOwners(f *testing.F) {
	f.Add(`* @a`, "a/b", byte(0))
	f.Add("[S][2] @a\ndocs/\n!x", "docs/x", byte(1))
	f.Add(`!(a|b)+ @c/d`, "b", byte(2))
	f.Add("**/**/** @a\n/** @b\n\\\\ @c", "x", byte(0))
	f.Fuzz(func(t *testing.T, text, file string, by byte) {
		of := []vendor{github, gitlab, gitea}[by%3]
		rules, err := parseOwners(of, []byte(text))
		if err != nil {
			return
		}
		asks, err := ownerDemands(of, rules, []string{file})
		if err != nil {
			return
		}
		for _, d := range asks {
			if ok, err := d.met(of, nil); ok || err != nil || d.asks < 1 || len(d.owners) == 0 {
				t.Fatalf("%v: %v, %v", d, ok, err)
			}
		}
	})
}
