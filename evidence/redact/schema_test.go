package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const schemaState = `{"version":4,"serial":1,"lineage":"x","resources":[{"mode":"managed","type":"acme_db","name":"a","provider":"p","instances":[
{"attributes":{"id":"db-1","connection":"plain-words-one","size":3,"users":[{"name":"web","login":"plain-words-two"},{"name":"job","login":"plain-words-three"}],
"pools":{"east":{"login":"plain-words-four","zone":"a"}},"pin":48151623}}]},
{"mode":"managed","type":"acme_other","name":"b","provider":"p","instances":[{"attributes":{"connection":"not-a-secret-here"}}]}]}`

// What only the provider's schema calls sensitive is hidden in a raw state, at every depth, whether the state is held whole or streamed.
func TestWhatTheSchemaCallsSensitive(t *testing.T) {
	t.Parallel()
	for _, unit := range []int{unitMost, 120} {
		t.Run(fmt.Sprint(unit), func(t *testing.T) {
			t.Parallel()
			r, err := New(bytes.Repeat([]byte{7}, KeySize), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Tell(map[string][]string{"acme_db": {"connection", "users.login"}})
			r.Tell(map[string][]string{"acme_db": {"pools.login", "pin", "connection"}})
			var out bytes.Buffer
			s := &jsonStream{r: r, out: &out, n: Counts{}, shape: terraformTree, unit: unit}
			if _, err := s.Write([]byte(schemaState)); err != nil {
				t.Fatal(err)
			}
			if err := s.finish(); err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"plain-words-one", "plain-words-two", "plain-words-three", "plain-words-four", "48151623"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("%s is stored", secret)
				}
			}
			if unit == unitMost {
				for _, kept := range []string{"db-1", `"name": "web"`, `"zone": "a"`, "not-a-secret-here"} {
					if !strings.Contains(out.String(), kept) {
						t.Errorf("%s is gone:\n%s", kept, out.String())
					}
				}
			}
		})
	}
}
