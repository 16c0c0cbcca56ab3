package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/evidence"
	"handrail/triage"
)

// findsByKey asks for a drill's incident by each thing that its bundle recorded
// under one of the evidence keys; the bundle is read here without the index.
func (p *practice) findsByKey(path string) {
	p.t.Helper()
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	wanted := map[string]string{}
	for e, err := range r.Entries() {
		if err != nil {
			p.t.Fatal(err)
		}
		var told struct {
			Context map[string]triage.Value `json:"context"`
		}
		if e.Type != "env" || json.Unmarshal(e.Data, &told) != nil {
			continue
		}
		for name, key := range map[string]string{"cluster.uid": "cluster", "cluster.server": "cluster", "api.user": "actor", "host.user": "actor",
			"terraform.workspace": "environment", "terraform.backend": "resource", "git.head": "commit"} {
			if v := told.Context[name]; v.Known() {
				wanted[name] = key + "=" + v.Text()
			}
		}
	}
	lock, _ := p.folded(path).Step("state-lock/lock")
	wanted["facts.id of the lock"] = "resource=" + lock.Facts["id"].Text()
	for _, name := range []string{"cluster.uid", "api.user", "terraform.workspace"} {
		if wanted[name] == "" {
			p.t.Errorf("the drill's bundle does not tell %s: %v", name, wanted)
		}
	}
	for name, pair := range wanted {
		var found bundle.QueryAnswer
		out := p.run(process.ExitDone, "", "bundle", "query", "-k", pair, "-o", "json")
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			p.t.Fatalf("%v: %s", err, out)
		}
		if len(found.Hits) == 0 || found.Hits[0].Path != path {
			p.t.Errorf("%s: the query --key %s does not find the incident: %s", name, pair, out)
		}
	}
}

// TestKeysFindADrill walks a drill on a lab and asks for it by its keys.
func TestKeysFindADrill(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	p.run(process.ExitDone, "", "lab", "up")
	p.breaks()
	// The surroundings are looked at beside the incident, and leaving cuts that off.
	s, _ := p.tty(34, 110, "resume")
	p.until("the cluster and the user there", s.ended, s.text, func(j []byte) bool {
		return bytes.Contains(j, []byte(`"cluster.uid":{"t":"ident","v":`)) && bytes.Contains(j, []byte(`"api.user":{"t":"string","v":`))
	})
	s.wait(command{re: regexp.MustCompile(`enter  Read`)})
	s.send("q")
	s.wait(command{re: regexp.MustCompile(`stays open`)})
	<-s.ended
	p.findsByKey(p.bundle())
}
