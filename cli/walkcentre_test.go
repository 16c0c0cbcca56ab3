package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/cli/process"
)

// TestCentreStartsWhatFits looks at a live cluster in which something is stuck:
// its row comes by itself, and enter on it starts the runbook with what the row
// knows.
func TestCentreStartsWhatFits(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	p.run(process.ExitDone, "", "lab", "up")
	d := p.broken("orphan-hook")
	const name = "couriers"
	stuck(t, d, name)
	q := p.operator(d)
	s, _ := q.tty(34, 110)
	w := &walker{screen: s, p: q}
	w.until("the row of the Deployment", func(text string) bool { return rowOf(text, name) != "" })
	w.key("/")
	w.says(name)
	w.until("the row alone", func(text string) bool { return strings.Contains(rowOf(text, name), "▸") })
	w.key("\r")
	w.until("the sheet of the row", func(text string) bool { return sheet(text) != "" && strings.Contains(text, "stuck-finalizer") })
	w.choose("start")
	w.key("\r")
	read := w.until("its first reads", func(text string) bool {
		return strings.Contains(text, "preserve") && move(text) != "" && !strings.HasPrefix(move(text), "Read")
	})
	w.key("P")
	text := w.until("its parameters", func(text string) bool { return strings.HasPrefix(sheet(text), "Parameters of") })
	for _, want := range []string{"deployments.apps", name, d.Namespace.Name} {
		if !strings.Contains(text, want) {
			t.Errorf("the parameters are not filled: %q is not on the screen\n%s", want, text)
		}
	}
	if !strings.Contains(read, name) {
		t.Errorf("the object was not read:\n%s", read)
	}
	w.key("\x1b")
	w.until("the incident below", func(text string) bool { return sheet(text) == "" && move(text) != "" })
	w.key("q")
	w.shows(`command centre`)
	w.key("q")
	<-s.ended
	p.sound(q.bundle())
}

// stuck makes a Deployment hang in deletion until the test ends.
func stuck(t *testing.T, d drillFile, name string) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", d.Namespace.RobotKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, method, body string) {
		req, err := http.NewRequestWithContext(ctx, method, cfg.Host+"/apis/apps/v1/namespaces/"+d.Namespace.Name+"/deployments/"+name, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/merge-patch+json")
		resp, err := c.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 300 {
			t.Errorf("%s of the Deployment: %s", method, resp.Status)
		}
	}
	ask(t.Context(), http.MethodPatch, `{"metadata":{"finalizers":["delivery.example/hold"]}}`)
	t.Cleanup(func() { ask(context.Background(), http.MethodPatch, `{"metadata":{"finalizers":null}}`) })
	ask(t.Context(), http.MethodDelete, "")
}

// rowOf is the first line below what stands right now that names something.
func rowOf(text, name string) string {
	_, text, _ = strings.Cut(text, "RIGHT NOW")
	text, _, _ = strings.Cut(text, "CARRIED DEBTS")
	for l := range strings.Lines(text) {
		if strings.Contains(l, name) {
			return l
		}
	}
	return ""
}
