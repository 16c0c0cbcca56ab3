package catch

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
)

// scene plays states of a ConfigMap to a catching, a second apart.
type scene struct {
	t   *testing.T
	c   *writeTracker
	at  time.Time
	rv  int
	uid string
}

func newScene(t *testing.T, field string) *scene {
	t.Helper()
	path, err := fieldpath.Parse(field)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, c: &writeTracker{path: path}, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), uid: "u1"}
}

// entry is a line of managedFields that was written so many seconds after the
// scene began.
func entry(manager string, after int, set string) fields {
	return fields{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
		"time": time.Date(2026, 1, 2, 3, 4, 5+after, 0, time.UTC).Format(time.RFC3339), "fieldsV1": json.RawMessage(set)}
}

func (s *scene) state(host string, entries ...fields) {
	s.t.Helper()
	s.rv++
	body := fields{"metadata": fields{"name": "c", "uid": s.uid, "resourceVersion": fmt.Sprint(s.rv), "managedFields": entries}}
	if host != "" {
		body["data"] = fields{"host": host}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	o, err := cluster.ParseObject(raw)
	if err != nil {
		s.t.Fatal(err)
	}
	m := snapshot{Object: o, at: s.at}
	s.at = s.at.Add(time.Second)
	if s.rv == 1 {
		s.c.start(m)
	} else {
		s.c.see(m)
	}
}

const hostSet = `{"f:data":{"f:host":{}}}`

// TestCatchJudge plays what a real server would not do in a test's time.
func TestCatchJudge(t *testing.T) {
	t.Parallel()
	t.Run("two writes of one second", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("one", 0, hostSet))
		s.state("b", entry("two", 5, hostSet))
		s.state("c", entry("two", 5, hostSet))
		v := s.c.judge()
		if v.writes != 2 || v.writer != "two" || !v.derived || v.tick != time.Second {
			t.Errorf("judge() = %+v, want two writes of one writer a second apart", v)
		}
	})
	t.Run("a removal has no author", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("one", 0, hostSet))
		s.state("", entry("one", 0, `{"f:data":{}}`))
		v := s.c.judge()
		if v.writes != 1 || v.writer != "" || *v.reverts {
			t.Errorf("judge() = %+v, want one write of nobody", v)
		}
	})
	t.Run("a removal that comes back", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("", entry("kubectl-edit", 0, `{"f:data":{}}`))
		s.state("a", entry("one", 5, hostSet))
		s.state("", entry("kubectl-edit", 9, `{"f:data":{}}`))
		s.state("a", entry("one", 12, hostSet))
		v := s.c.judge()
		if !*v.reverts || v.writes != 3 {
			t.Errorf("judge() = %+v, want it put back", v)
		}
	})
	t.Run("a person tries values", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("kubectl-edit", 0, hostSet))
		s.state("b", entry("kubectl-edit", 5, hostSet))
		s.state("c", entry("kubectl-edit", 9, hostSet))
		v := s.c.judge()
		if *v.reverts || v.derived || v.writer != "kubectl-edit" {
			t.Errorf("judge() = %+v, want a person who is at work", v)
		}
	})
	t.Run("reports of a custom resource", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "")
		s.state("a", entry("one", 0, hostSet))
		s.state("a", entry("beat", 5, `{"f:status":{"f:phase":{}}}`), entry("one", 0, hostSet))
		s.state("a", entry("beat", 8, `{"f:status":{"f:phase":{}}}`), entry("one", 0, hostSet))
		v := s.c.judge()
		if !v.settled || v.status != 2 {
			t.Errorf("judge() = %+v, want nothing but reports", v)
		}
	})
	t.Run("many fields at once", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("one", 0, hostSet))
		s.state("b", entry("one", 0, `{"f:data":{".":{},"f:host":{},"f:a":{},"f:b":{}},"f:immutable":{}}`))
		if v := s.c.judge(); v.writes != 1 || v.writer != "one" {
			t.Errorf("judge() = %+v, want one write of one", v)
		}
	})
	t.Run("nothing changes it", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("one", 0, hostSet))
		s.state("a", entry("beat", 5, `{"f:metadata":{"f:annotations":{"f:beat":{}}}}`), entry("one", 0, hostSet))
		v := s.c.judge()
		f := factsOf(v, s.c)
		if !v.settled || f["reverts"].Known() {
			t.Errorf("judge() = %+v, reverts %s: a writer of the value that is there is not excluded", v, f["reverts"].Text())
		}
	})
	t.Run("the same value again", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("one", 0, hostSet))
		for _, after := range []int{5, 16} {
			s.state("a", entry("one", after, `{"f:data":{"f:host":{}},"f:metadata":{"f:annotations":{"f:at":{}}}}`))
		}
		v := s.c.judge()
		f := factsOf(v, s.c)
		if v.writes != 0 || v.again != 2 || f["settled"].Text() != "false" || f["reverts"].Known() {
			t.Errorf("judge() = %+v, settled %s, reverts %s; want a writer that is at work", v, f["settled"].Text(), f["reverts"].Text())
		}
	})
	t.Run("a value that stays as it was set", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("kubectl-edit", 0, hostSet))
		s.state("b", entry("kubectl-edit", 5, hostSet))
		if f := factsOf(s.c.judge(), s.c); f["reverts"].Text() != "false" {
			t.Errorf("reverts = %s (%s), want false: it was changed, and stayed", f["reverts"].Text(), f["reverts"].Why())
		}
	})
	t.Run("a hole hides what it hides", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "data.host")
		s.state("a", entry("one", 0, hostSet))
		s.c.holes = append(s.c.holes, "cut")
		f := factsOf(s.c.judge(), s.c)
		for _, name := range []string{"writes", "reverts", "writer", "tick", "recreated", "derived", "settled", "inputs", "likely"} {
			if f[name].Known() {
				t.Errorf("%s = %s, want unknown", name, f[name].Text())
			}
		}
	})
}

// fields is a part of an object.
type fields = map[string]any
