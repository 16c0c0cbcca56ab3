package drills_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"handrail/drills"
	"handrail/steps/catalog"
)

func TestZZ(t *testing.T) {
	all, err := drills.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		for _, v := range append([]string{""}, d.Variants()...) {
			s, err := d.Scene(v)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(s.Name(), os.Getenv("ZZ")) {
				continue
			}
			o, c := world(t)
			w := &walked{scene: s, o: o, ended: make(chan struct{})}
			w.o.Progress = func(text string) { fmt.Fprintln(&w.said, text) }
			w.rep, w.err = drills.RunAuto(t.Context(), w.o, c, s, &w.said)
			close(w.ended)
			_ = bytes.Buffer{}
			t.Run(s.Name(), func(t *testing.T) { w.check(t) })
		}
	}
}
