package inject

import (
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"handrail/steps/strict"
)

// TestVerbsAreRead gives each verb a word for each of its keys: a tag that names no
// form, or a field that cannot be set, panics.
func TestVerbsAreRead(t *testing.T) {
	t.Parallel()
	for name, v := range verbs() {
		r := &strict.Reader{File: "x.yaml", What: "a drill", Forms: Forms()}
		args := &yaml.Node{Kind: strict.Mapping}
		act := reflect.TypeOf(v.read(r, args, name))
		for i := range act.NumField() {
			f := act.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("key"), ",")
			if key == "" && !f.Anonymous {
				t.Errorf("%s: %s.%s has no key", name, act, f.Name)
			}
			if form := f.Tag.Get("as"); key != "" && form != "file" && form != "manifests" && form != "definitions" { // which read a file
				args.Content = append(args.Content, &strict.Node{Kind: strict.Scalar, Value: key}, &strict.Node{Kind: strict.Scalar, Value: "x"})
			}
		}
		v.read(r, args, name)
	}
}
