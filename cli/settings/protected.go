package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/cli/process"
	"handrail/steps"
	"handrail/steps/strict"
)

// ProtectedFile names the labels and annotations by which a team says that no gate may change an object. It stands below
// handrail's folder of $XDG_CONFIG_HOME.
const ProtectedFile = "protected.yaml"

// maxMarkers bounds how many a team may name.
const maxMarkers = 200

// markerKey is the grammar of a label or annotation; */NAME stands for any prefix.
var markerKey = regexp.MustCompile(`^(\*/|[A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ProtectedMarkers reads the markers of the machine and of the team. No file is none beside those that are built in; a
// file that cannot be read, or a home that is not there, refuses every gate of the cluster.
func ProtectedMarkers(p *process.Program) ([]steps.Marker, error) {
	var out []steps.Marker
	for _, at := range ruling(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, fmt.Errorf("finding the protected markers: %w", err)
		}
		name := filepath.Join(dir, ProtectedFile)
		src, err := ReadUpTo(name, strict.MaxSize+1)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading the protected markers: %w", err)
		}
		more, err := parseProtected(name, src)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func parseProtected(name string, src []byte) ([]steps.Marker, error) {
	r := &strict.Reader{File: name, What: "a file of protected markers"}
	doc := r.Document(src)
	if doc == nil {
		return nil, r.Problems.Sorted()
	}
	top := r.Fields(doc, "a file of protected markers", "apiVersion", "kind", "markers")
	for _, want := range [...]struct{ key, value string }{{"apiVersion", "handrail/v1"}, {"kind", "Protected"}} {
		if n := top[want.key]; n == nil {
			r.Fail(doc, "write "+want.key+": "+want.value, "%s is missing", want.key)
		} else {
			r.OneOf(n, want.key, []string{want.value})
		}
	}
	if top["markers"] == nil {
		r.Fail(doc, "list them under markers:", "there are no markers")
	}
	var out []steps.Marker
	for i, item := range r.Items(top["markers"], "markers") {
		if i == maxMarkers {
			r.Fail(item, "", "more than %d markers", maxMarkers)
			break
		}
		f := r.Fields(item, "a marker", "key", "value")
		if f["key"] == nil {
			r.Fail(item, "a marker has a key, and a value where not every value protects", "key is missing")
			continue
		}
		m := steps.Marker{Key: r.Text(f["key"], "key")}
		if !markerKey.MatchString(m.Key) {
			r.Fail(f["key"], "write it as team.example/role, as role, or as */role for any prefix", "%q is no key of a label or annotation", m.Key)
		}
		if n := f["value"]; n != nil {
			if m.Value = strings.TrimSpace(r.Text(n, "value")); m.Value == "" {
				r.Fail(n, "leave value out where every value protects", "value is empty")
			}
		}
		out = append(out, m)
	}
	return out, r.Problems.Sorted()
}

// CheckProtected says by how many markers of the team objects are protected, before it matters.
func CheckProtected(p *process.Program) process.Check {
	const name = "protected objects"
	markers, err := ProtectedMarkers(p)
	if err != nil {
		return process.Check{Name: name, State: "bad", Detail: err.Error(), Next: "mend the file: until then no gate of the cluster opens"}
	}
	return process.Check{Name: name, State: "ok", Detail: "role=protected, purpose=chaos-canary, and " + process.Counted(len(markers), "marker") + " of the team"}
}
