package change

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"handrail/steps/terraform/tfstate"
)

// TestReserial changes nothing but the serial.
func TestReserial(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"serial":3}`: `{"serial":42}`,
		`{"a":{"serial":1},"serial" : 3 ,"b":[]}`:                   `{"a":{"serial":1},"serial" : 42 ,"b":[]}`,
		"{\n \"version\": 4,\n \"serial\": 18446744073709551615\n}": "",
		`{"serial":3,"serial":4}`:                                   "", `{"serial":"3"}`: "", `{"serial":-1}`: "", `{}`: "", `[]`: "", ``: "", `{"serial":3`: "", `{"serial":3} {}`: "", `{"serial":3.0}`: "",
	} {
		got, err := reserial([]byte(raw), 42)
		if (err == nil) != (want != "") || string(got) != want {
			t.Errorf("reserial(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		serial, next := rapid.Int64Range(0, 1<<53).Draw(t, "serial"), rapid.Int64Range(0, 1<<53).Draw(t, "next")
		head := rapid.SampledFrom([]string{"", " ", "\n  ", "\t"}).Draw(t, "space") + `"lineage":"a\"serial\":1",`
		raw := fmt.Sprintf(`{%s"serial":%s%d,"resources":[{"serial":7}]}`, head, rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "gap"), serial)
		there, err := reserial([]byte(raw), next)
		if err != nil {
			t.Fatal(err)
		}
		back, err := reserial(there, serial)
		if err != nil || string(back) != raw {
			t.Fatalf("there and back: %q, %v, want %q", back, err, raw)
		}
	})
}

func FuzzReserial(f *testing.F) {
	f.Add([]byte(`{"version":4,"serial":3,"lineage":"l","resources":[]}`))
	f.Add([]byte(`{"serial":`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := reserial(raw, 7)
		if err != nil {
			return
		}
		if d, err := tfstate.Read(bytes.NewReader(out), tfstate.Options{}); err != nil || !d.HasSerial || d.Serial != 7 {
			t.Errorf("reserial(%q) = %q, which has the serial %d, %v", raw, out, d.Serial, err)
		}
	})
}
