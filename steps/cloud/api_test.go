package cloud

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestGateOverHTTP holds cloud/delete to the contract of gates over HTTP. Its server is a stand-in: no account of AWS can be had.
func TestGateOverHTTP(t *testing.T) {
	t.Parallel()
	keeps(t, "cloud/delete", func(t *testing.T, through func(server string) string) stepstest.World {
		a := newTenant(t, nil)
		direct := a.env
		server := ""
		for i, kv := range direct.Environ {
			if at, is := strings.CutPrefix(kv, "AWS_ENDPOINT_URL="); is {
				server = at
				a.env.Environ = append(append([]string{}, direct.Environ[:i]...), direct.Environ[i+1:]...)
			}
		}
		elsewhere := a.env
		a.env.Environ = append(append([]string{}, a.env.Environ...), "AWS_ENDPOINT_URL="+through(server))
		elsewhere.Environ = append(append([]string{}, elsewhere.Environ...), "AWS_ENDPOINT_URL="+newTenant(t, nil).server())
		return stepstest.World{Gate: deleter{env: a.env, pause: time.Millisecond}, In: a.in(), Elsewhere: deleter{env: elsewhere}, Secrets: []string{strings.Repeat("s", 40)}}
	})
}

func (a *tenant) server() string {
	for _, kv := range a.env.Environ {
		if at, is := strings.CutPrefix(kv, "AWS_ENDPOINT_URL="); is {
			return at
		}
	}
	return ""
}

// keeps holds a gate to the contract of gates over HTTP, case by case.
func keeps(t *testing.T, kind string, open func(t *testing.T, through func(server string) string) stepstest.World) {
	t.Helper()
	for _, c := range stepstest.APICases() {
		t.Run(kind+"/"+c.Name, func(t *testing.T) {
			l := c.Line()
			l.IsWrite = func(r *http.Request) bool { // reads of AWS are POST as well
				raw, body := readBody(r)
				r.Body = body
				return strings.Contains(raw, "Action=DeleteDBInstance")
			}
			defer l.Close()
			w := open(t, l.Before)
			w.Do = func(ctx context.Context, p steps.Preview, out steps.Sink) (o steps.Outcome, err, again error) {
				a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
				if err != nil {
					return o, err, nil
				}
				o, err = w.Gate.Act(ctx, a, out)
				_, again = w.Gate.Act(ctx, a, out)
				return o, err, again
			}
			for _, why := range c.Check(t.Context(), l, w) {
				t.Error(why)
			}
		})
	}
}
