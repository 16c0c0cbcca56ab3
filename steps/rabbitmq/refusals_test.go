package rabbitmq

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps/kube/loglayer"
)

// What a program in a Pod says whom the broker refuses is put on the right layer:
// the words are the broker's own, sent over AMQP.
func TestRefusalsOfTheBroker(t *testing.T) {
	t.Parallel()
	w := brokerOf(t)
	program, err := (&lab.Lab{}).Writers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, addr, user, word, vhost string
		layer                         loglayer.Layer
		says                          string
	}{
		{"takes it", w.env["BROKER_AMQP"], w.env["BROKER_USER"], w.env["BROKER_PASSWORD"], "/platform", "", ""},
		{"no such virtual host", w.env["BROKER_AMQP"], viewer, viewerWord, "parcels-internal", loglayer.NotFound, "NOT_ALLOWED - vhost parcels-internal not found"},
		{"no such virtual host, with a slash", w.env["BROKER_AMQP"], viewer, viewerWord, "/parcels internal", loglayer.NotFound, "NOT_ALLOWED - vhost /parcels internal not found"},
		{"a virtual host that it may not use", w.env["BROKER_AMQP"], viewer, viewerWord, "closed", loglayer.Auth, "NOT_ALLOWED - access to vhost 'closed' refused for user 'viewer'"},
		{"another password", w.env["BROKER_AMQP"], viewer, "wrong", "/platform", loglayer.Auth, "ACCESS_REFUSED - Login was refused"},
		{"no server", "127.0.0.1:1", viewer, viewerWord, "/", loglayer.Refused, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, "amqp", tc.addr, tc.user, tc.vhost)
			cmd.Env = append(os.Environ(), "AMQP_PASSWORD="+tc.word)
			out, err := cmd.CombinedOutput()
			var ended *exec.ExitError
			if tc.layer == "" && err != nil || tc.layer != "" && !errors.As(err, &ended) {
				t.Fatalf("%v: %s", err, out)
			}
			layer, line := loglayer.Of(strings.Split(string(out), "\n"))
			if layer != tc.layer || !bytes.Contains(out, []byte(tc.says)) {
				t.Errorf("%q is on layer %q (%q), want %q with %q", out, layer, line, tc.layer, tc.says)
			}
		})
	}
}
