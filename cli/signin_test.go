package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
)

// badge is a home whose kubeconfig names the lab, and a credential plugin that
// asks a person for a code before it hands out the operator's token.
type badge struct {
	home string
	user string // whom the API server then knows
}

// code is what the plugin wants to hear.
const code = "4711"

// theSwitch is what switches to the alternate screen.
const theSwitch = "\x1b[?1049h"

// newBadge makes the plugin answer with a credential that expires at the given
// time; "" for one that does not.
func newBadge(t *testing.T, expires string) badge {
	t.Helper()
	o, err := lab.ForTests("cli-signin")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	ns, err := l.Namespace(t.Context(), "signin")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.LoadFromFile(ns.OperatorKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	here := cfg.Contexts[cfg.CurrentContext]
	b := badge{t.TempDir(), ns.Operator}
	status := map[string]string{"token": cfg.AuthInfos[here.AuthInfo].Token}
	if expires != "" {
		status["expirationTimestamp"] = expires
	}
	answer, err := json.Marshal(map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})
	if err != nil {
		t.Fatal(err)
	}
	cluster := cfg.Clusters[here.Cluster]
	for name, text := range map[string]string{
		"plugin": fmt.Sprintf(`#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >> runs
printf 'Code for the lab: ' >&2
read code || code=nobody
echo "$code" >> codes
if [ "$code" = hang ]; then echo >&2; echo 'Waiting for the phone' >&2; exec sleep 1000; fi
if [ "$code" != %s ]; then echo "No token for $code" >&2; exit 3; fi
cat answer.json
`, code),
		"answer.json": string(answer),
		"kubeconfig": fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lab
clusters: [{name: lab, cluster: {server: %q, certificate-authority-data: %s}}]
contexts: [{name: lab, context: {cluster: lab, user: me, namespace: %s}}]
users: [{name: me, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %s, interactiveMode: IfAvailable}}}]
`, cluster.Server, base64.StdEncoding.EncodeToString(cluster.CertificateAuthorityData), ns.Name, filepath.Join(b.home, "plugin")),
	} {
		if err := os.WriteFile(filepath.Join(b.home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b badge) screen(t *testing.T, args ...string) (*screen, *exec.Cmd) {
	t.Helper()
	cmd := frameCommand(t, b.home)
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8")
	cmd.Args = append(cmd.Args, args...)
	return onScreen(t, cmd, 40, 140), cmd
}

// told are the lines that the plugin wrote to a file of its own.
func (b badge) told(t *testing.T, file string) []string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(b.home, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(src)), "\n")
}

// TestSignInBeforeTheScreen: the plugin has the terminal to itself, then the
// screen has, and knows who acts.
func TestSignInBeforeTheScreen(t *testing.T) {
	t.Parallel()
	b := newBadge(t, "")
	s, _ := b.screen(t, "start", "state-lock", "-p", "dir=.")
	s.shows(`signing in to lab .* with plugin, .* Ctrl-C goes on without`)
	s.shows(`Code for the lab:`)
	if strings.Contains(s.written(), theSwitch) {
		t.Fatal("the screen was taken before the plugin had its answer")
	}
	s.send(code + "\r")
	s.shows(`READ-ONLY`)
	s.shows(`as ` + regexp.QuoteMeta(b.user))
	if all := s.written(); strings.Index(all, "Code for the lab") > strings.Index(all, theSwitch) {
		t.Error("the plugin asked after the screen was taken")
	}
	if runs := b.told(t, "runs"); len(runs) != 1 || !strings.Contains(runs[0], `"interactive":true`) {
		t.Errorf("the plugin ran %d times, as %v; want once, interactive", len(runs), runs)
	}
	if codes := b.told(t, "codes"); codes[0] != code {
		t.Errorf("the plugin read %q, want %q", codes, code)
	}
}

// TestPluginBehindTheScreen: a credential that expires at once makes client-go
// run the plugin again while the screen is drawn. It gets no key and no cell.
func TestPluginBehindTheScreen(t *testing.T) {
	t.Parallel()
	b := newBadge(t, "2001-01-01T00:00:00Z")
	first, cmd := b.screen(t, "start", "state-lock", "-p", "dir=.", "--plain")
	first.shows(`Code for the lab:`)
	first.send(code + "\r")
	first.shows(`(?m)^>`)
	first.send("q\r")
	<-first.ended
	_ = cmd.Wait() // the incident stays open

	s, _ := b.screen(t)
	s.shows(`Code for the lab:`)
	s.send(code + "\r")
	s.shows(`command centre`)
	s.shows(`state-lock`)
	s.send("\r")
	s.shows(`NEWEST EVIDENCE`) // the home screen has the same notice, and a key while the incident opens goes nowhere
	s.shows(`Beside the screen: Code for the lab: No token for nobody`)
	for _, row := range strings.Split(s.text(), "\n") {
		if strings.Contains(row, "Code for") && !strings.Contains(row, "Beside the screen: ") {
			t.Errorf("the plugin wrote on the screen: %q", row)
		}
	}
	runs, codes := b.told(t, "runs"), b.told(t, "codes")
	if last := runs[len(runs)-1]; !strings.Contains(last, `"interactive":false`) || codes[len(codes)-1] != "nobody" {
		t.Errorf("behind the screen the plugin was told %s and read %q; want no terminal", last, codes[len(codes)-1])
	}
	s.send("?")                       // the keys are the screen's
	s.shows(`(?s)A STEP.*↑ ↓ scroll`) // the last line too: a frame arrives in parts
	s.send("\x1b")
	s.shows(`(?s)NEWEST EVIDENCE.*▸ enter`)
	s.send("\x03")
	s.shows(`While the screen was drawn, this came on stderr:\s+\| Code for the lab: No token for nobody`)
}

// TestSignInGivenUp: the sign-in is given up, and the incident starts all the same.
func TestSignInGivenUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		types string
		says  string
	}{
		"ctrl-c":     {"\x03", `(?s)not signed in to lab.*given\s+up\s+with\s+Ctrl-C`},
		"hanging":    {"hang\r", `Waiting for the phone`},
		"wrong code": {"1234\r", `(?s)not signed in to lab.*exit\s+code\s+3`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBadge(t, "")
			s, _ := b.screen(t, "start", "state-lock", "-p", "dir=.", "--plain")
			s.shows(`Code for the lab:`)
			s.send(tc.types)
			s.shows(tc.says)
			if name == "hanging" {
				s.send("\x03")
				s.shows(`(?s)not signed in to lab.*given\s+up\s+with\s+Ctrl-C`)
			}
			s.shows(`(?m)^>`)
			s.send("q\r")
			s.shows(`stays open`)
		})
	}
}
