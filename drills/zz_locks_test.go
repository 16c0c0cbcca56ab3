package drills_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"handrail/drills"
	"handrail/steps/catalog"
)

func TestZZLocks(t *testing.T) {
	all, _ := drills.Library(catalog.New())
	for _, d := range all {
		for _, v := range append([]string{""}, d.Variants()...) {
			s, err := d.Scene(v)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(","+os.Getenv("ONE")+",", ","+s.Name()+",") {
				continue
			}
			t.Run(s.Name(), func(t *testing.T) {
				t.Parallel()
				o, c := world(t)
				var said bytes.Buffer
				rep, err := drills.RunAuto(t.Context(), o, c, s, &said)
				t.Log(said.String())
				for _, f := range rep.Failed {
					t.Error(f)
				}
				if err != nil || rep.Code != s.Expect.Exit || !rep.Judgement.Won || !rep.Proof.OK {
					t.Errorf("err %v code %d, won %v, proof %v", err, rep.Code, rep.Judgement.Won, rep.Proof.OK)
				}
			})
		}
	}
}
