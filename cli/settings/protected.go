package settings

import (
	"fmt"
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

// ProtectedMarkers reads the markers of the machine, of the team and of the project. No file is none beside those that are built in; a
// file that cannot be read, or a home that is not there, refuses every gate of the cluster.
func ProtectedMarkers(p *process.Program) ([]steps.Marker, error) {
	var out []steps.Marker
	for _, at := range rulesDirs(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, fmt.Errorf("finding the protected markers: %w", err)
		}
		var f protectedFile
		if _, err := read(filepath.Join(dir, ProtectedFile), "a file of protected markers", "Protected", nil, &f); err != nil {
			return nil, err
		}
		for _, m := range f.Markers {
			out = append(out, steps.Marker{Key: m.Key, Value: strings.TrimSpace(m.Value)})
		}
	}
	dirs, err := moduleDirs(p, nil)
	if err != nil {
		return nil, err
	}
	list, err := configs(p, dirs)
	if err != nil {
		return nil, fmt.Errorf("finding the protected markers: %w", err)
	}
	for _, c := range list {
		for _, m := range c.Markers {
			out = append(out, steps.Marker{Key: m.Key, Value: strings.TrimSpace(m.Value)})
		}
	}
	return out, nil
}

type protectedFile struct {
	Markers []marker `key:"markers,required" of:"a marker" hint:"list them under markers:"`
}

type marker struct {
	Key   string `key:"key,required" hint:"a marker has a key, and a value where not every value protects"`
	Value string `key:"value"`
}

// Check bounds the list.
func (f *protectedFile) Check(r *strict.Reader, n *strict.Node) {
	if len(f.Markers) > maxMarkers {
		r.Fail(strict.At(n, "markers").Content[maxMarkers], "", "more than %d markers", maxMarkers)
	}
}

// Check wants a key that an object can have.
func (m *marker) Check(r *strict.Reader, n *strict.Node) {
	if !markerKey.MatchString(m.Key) {
		r.Fail(strict.At(n, "key"), "write it as team.example/role, as role, or as */role for any prefix", "%q is not a label or annotation key", m.Key)
	}
}

// CheckProtected says by how many markers of the team objects are protected, before it matters.
func CheckProtected(p *process.Program) process.Check {
	const name = "protected objects"
	markers, err := ProtectedMarkers(p)
	if err != nil {
		return process.Check{Name: name, State: "bad", Detail: err.Error(), Next: "fix the file: until then no gate of the cluster opens"}
	}
	return process.Check{Name: name, State: "ok", Detail: "role=protected, purpose=chaos-canary, and " + process.Counted(len(markers), "marker") + " of the team"}
}
