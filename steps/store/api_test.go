package store

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"handrail/drills/lab"
	"handrail/drills/lab/minio"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// at is an environment whose store is at an address.
func at(env steps.Env, address string) steps.Env {
	env.Environ = append(append([]string(nil), env.Environ...), "AWS_ENDPOINT_URL_S3="+address)
	return env
}

// elsewhere is an address that no store has.
const elsewhere = "http://127.0.0.1:1"

func worldOf(t *testing.T, kind string, env steps.Env, address string, in steps.Params) stepstest.World {
	t.Helper()
	k := kindOf(t, kind)
	return stepstest.World{Gate: k.Changes(at(env, address)).(stepstest.Finder), Elsewhere: k.Changes(at(env, elsewhere)).(stepstest.Finder), In: in,
		Secrets: []string{env.Getenv("AWS_SECRET_ACCESS_KEY"), accountSecret}}
}

// TestGatesKeepTheContract: each gate of this package, on a real store behind a line that fails.
func TestGatesKeepTheContract(t *testing.T) {
	t.Parallel()
	keeps(t, "store/policy", func(t *testing.T, through func(string) string) stepstest.World {
		h := openShop(t, accounts...)
		live := doc(lets, others, locked)
		if err := h.setPolicy(live); err != nil {
			t.Fatal(err)
		}
		h.write("wanted.json", doc(lets, others, right))
		in := withPeople(media())
		in["policy"], in["replaces"], in["digest"] = steps.PathOf("wanted.json"), steps.StringOf("WarehouseOnly"), steps.IdentOf(document{raw: []byte(live)}.digest())
		return worldOf(t, "store/policy", h.env, through(h.s.URL), in)
	})
	keeps(t, "store/canary", func(t *testing.T, through func(string) string) stepstest.World {
		h := openShop(t, accounts...)
		if err := h.setPolicy(doc(lets)); err != nil {
			t.Fatal(err)
		}
		in := media()
		in["key"], in["profile"] = steps.StringOf("canary/1"), steps.StringOf("upload-writer")
		return worldOf(t, "store/canary", h.env, through(h.s.URL), in)
	})
	keeps(t, "store/audit", func(t *testing.T, through func(string) string) stepstest.World {
		s, err := minio.Start(t.Context(), lab.Options{}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		sink := httptest.NewServer(&records{new: make(chan struct{}, 1)})
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			sink.Close()
		})
		dir := t.TempDir()
		env := steps.Env{Dir: dir, Home: dir, Environ: append([]string{"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(dir, "none"), "AWS_CONFIG_FILE=" + filepath.Join(dir, "none")}, s.Env...)}
		return worldOf(t, "store/audit", env, through(s.URL), steps.Params{"endpoint": steps.StringOf(sink.URL + "/"), "name": steps.StringOf("handrail")})
	})
}

// keeps holds a gate to the contract of gates over HTTP, case by case.
func keeps(t *testing.T, kind string, open func(t *testing.T, through func(server string) string) stepstest.World) {
	t.Helper()
	for _, c := range stepstest.APICases() {
		t.Run(kind+"/"+c.Name, func(t *testing.T) {
			l := c.Line()
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
