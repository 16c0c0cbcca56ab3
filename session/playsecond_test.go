package session_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/session/walk"
)

func TestScriptWaitsForTheSecond(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, gate string
		by         func(d *duo) ssh.Signer
		code       int
		why        string
	}{
		{"approved", `{phrase: "unlock l-1", approval: "there"}`, func(d *duo) ssh.Signer { return d.grace }, walk.CodeDone, ""},
		{"by a person who may not", `{phrase: "unlock l-1", approval: "there"}`, func(d *duo) ssh.Signer { return d.eve }, walk.CodeRefused, "does not belong to an approver"},
		{"no file", `{phrase: "unlock l-1"}`, nil, walk.CodeRefused, "gates.unlock.approval"},
		{"no answer", `{phrase: "unlock l-1", approval: "there"}`, nil, walk.CodeRefused, "expired without an approval"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDuo(t)
			d.rb = scripted(t).rb
			s := d.start(t)
			var talk strings.Builder
			by := says(t, strings.Replace(script, `{phrase: "unlock ${drill.lock}"}`, tc.gate, 1), &talk)
			looks := 0
			by.Approval = func(file string) (string, error) {
				if looks++; looks == 1 {
					return "", os.ErrNotExist
				}
				r := request(t, s)
				if tc.by == nil {
					d.clk.forward(31 * time.Minute)
					return "handrail-approval-v1 000000000000 of another gate", nil
				}
				return replyOf(t, r, tc.by(d), d.clk.Now()), nil
			}
			got, err := walk.Play(t.Context(), s, by)
			if err != nil || got.Code != tc.code || !strings.Contains(got.Why, tc.why) {
				t.Fatalf("Play = %+v, %v, want code %d because %q\n%s", got, err, tc.code, tc.why, talk.String())
			}
			if tc.by != nil && !strings.Contains(talk.String(), "HANDRAIL APPROVAL REQUEST") {
				t.Error("it says nothing of what to send")
			}
		})
	}
}
