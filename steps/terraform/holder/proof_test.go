package holder

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// TestProofThatTheHolderIsGone: only a machine with a name of its own, up since before
// the lock and seen whole, proves that a holder of its name is gone.
func TestProofThatTheHolderIsGone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		who     string // "" for u@anna-5520
		host    string // "" for anna-5520
		created time.Time
		environ []string
		rows    func(dir string) []row
		no      string // part of why it is not proven, "" for proven
	}{
		{name: "nothing of it is left"},
		{name: "a shell sits there", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 80, argv: []string{"-bash"}, cwd: dir, started: -50}}
		}},
		{name: "it lives", no: "it is alive", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 80, argv: []string{"tofu", "apply"}, cwd: dir, started: -5}}
		}},
		{name: "a part of it lives", no: "still runs", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "-c", "sleep 9; redo"}, cwd: dir, started: 9}}
		}},
		{name: "a program of another name works there", no: "may be a tofu under another name", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 80, argv: []string{"iac", "apply"}, cwd: dir, started: -5}}
		}},
		{name: "another machine", who: "u@ci-7", no: "another machine"},
		{name: "no machine", who: "u", no: "which machine"},
		{name: "a name of many", who: "u@ubuntu", host: "ubuntu", no: "other machines have too"},
		{name: "a name of many, in a domain", who: "u@localhost.localdomain", host: "localhost.localdomain", no: "other machines have too"},
		{name: "a name made of an address", who: "u@ip-10-0-3-17", host: "ip-10-0-3-17", no: "other machines have too"},
		{name: "from before the machine started", created: time.Unix(bootSecond-60, 0), no: "after the lock was taken"},
		{name: "from the future", created: time.Now().Add(200 * 365 * 24 * time.Hour), no: "future"},
		{name: "in a job", environ: []string{"CI=true"}, no: "in a job"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := resolved(t.TempDir())
			backendFile(t, dir, "one")
			var rows []row
			if tc.rows != nil {
				rows = tc.rows(dir)
			}
			now := takenAt.Add(2 * time.Minute)
			env := steps.Env{Dir: dir, User: "u", Host: "anna-5520", Proc: newFakeProc(t, rows...), Environ: tc.environ, Now: func() time.Time { return now }}
			s := Suspect{Who: "u@anna-5520", Created: takenAt}
			if tc.host != "" {
				env.Host = tc.host
			}
			if tc.who != "" {
				s.Who = tc.who
			}
			if !tc.created.IsZero() {
				s.Created = tc.created
			}
			w, err := module.Read(env, dir)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Look(env, w, s)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.no == "" && (r.Proof == "" || r.NoProof != ""):
				t.Errorf("proof = %q, %q, want one", r.Proof, r.NoProof)
			case tc.no != "" && (r.Proof != "" || !strings.Contains(r.NoProof, tc.no)):
				t.Errorf("proof = %q, none since %q, want none since %q", r.Proof, r.NoProof, tc.no)
			}
		})
	}
}

// TestElsewhereIsNotUnseen: where the process table cannot be read, as on macOS, a
// lock of another machine is told apart from one that may be of this one.
func TestElsewhereIsNotUnseen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ who, host, unknown string }{
		{who: "runner@ci-7", host: "Annas-MacBook.local"},
		{who: "runner@annas-macbook.lan", host: "Annas-MacBook.local", unknown: "may be this machine"},
		{who: "anna@dhcp-17", host: "Annas-MacBook.local", unknown: "another name of this machine"},
		{who: "runner@ci-7", unknown: "name of this machine is not known"},
		{who: "", host: "Annas-MacBook.local", unknown: "which machine"},
		{who: "anna@Annas-MacBook.local", host: "Annas-MacBook.local", unknown: "process table"},
	} {
		dir := t.TempDir()
		backendFile(t, dir, "one")
		env := steps.Env{Dir: dir, User: "anna", Host: tc.host, Proc: t.TempDir(), Now: time.Now}
		obs, err := Probe{env}.Probe(t.Context(), steps.Params{"who": steps.StringOf(tc.who), "created": steps.TimeOf(takenAt)}, steps.SecretsOnly(nil))
		switch f := obs.Facts; {
		case tc.unknown != "" && (err == nil || !strings.Contains(err.Error(), tc.unknown)):
			t.Errorf("%q from %q: %v, %v, want an error on %q", tc.who, tc.host, obs, err, tc.unknown)
		case tc.unknown == "" && err != nil:
			t.Errorf("%q from %q: %v", tc.who, tc.host, err)
		case tc.unknown == "" && (!f["here"].Known() || f["here"].Bool() || f["alive"].Known() || f["orphans"].Known() || f["proven_gone"].Bool()):
			t.Errorf("%q from %q: %v, want elsewhere, and nothing else known", tc.who, tc.host, f)
		}
	}
}
