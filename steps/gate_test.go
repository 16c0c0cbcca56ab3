package steps

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func shown() Preview {
	return Preview{
		Target: []KV{{Key: "server", Value: "https://127.0.0.1:6443"}, {Key: "lock id", Value: "a-1"}}, Shown: []KV{{Key: "age", Value: "47m"}},
		Effect: "releases the lock", Request: "force-unlock a-1", Command: "tofu force-unlock a-1", Phrase: "force-unlock a-1",
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	armed := shown().Digest("i", "s")
	for _, tc := range []struct {
		name  string
		fresh func(*Preview)
		armed Digest
		typed string
		want  error
	}{
		{"as shown", func(*Preview) {}, armed, "force-unlock a-1", nil},
		{"what may move moved", func(p *Preview) { p.Shown[0].Value = "48m" }, armed, "force-unlock a-1", nil},
		{"target moved", func(p *Preview) { p.Target[1].Value = "a-2" }, armed, "force-unlock a-1", ErrMoved},
		{"request moved", func(p *Preview) { p.Request = "force-unlock a-2" }, armed, "force-unlock a-1", ErrMoved},
		{"command moved", func(p *Preview) { p.Command = "rm" }, armed, "force-unlock a-1", ErrMoved},
		{"unmet", func(p *Preview) { p.Unmet = []Need{{Why: "too young"}} }, armed, "force-unlock a-1", ErrUnmet},
		{"never armed", func(*Preview) {}, "", "force-unlock a-1", ErrMoved},
		{"another incident", func(*Preview) {}, shown().Digest("j", "s"), "force-unlock a-1", ErrMoved},
		{"another step", func(*Preview) {}, shown().Digest("i", "t"), "force-unlock a-1", ErrMoved},
		{"case", func(*Preview) {}, armed, "Force-unlock a-1", ErrPhrase},
		{"prefix", func(*Preview) {}, armed, "force-unlock a-", ErrPhrase},
		{"more", func(*Preview) {}, armed, "force-unlock a-1 ", ErrPhrase},
		{"nothing", func(*Preview) {}, armed, "", ErrPhrase},
		{"no phrase to type", func(p *Preview) { p.Phrase = "" }, armed, "", ErrPhrase},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := shown()
			tc.fresh(&p)
			a, err := Confirm(p, "i", "s", tc.armed, tc.typed)
			if !errors.Is(err, tc.want) || (a == nil) != (tc.want != nil) {
				t.Fatalf("Confirm() = %v, %v, want %v", a, err, tc.want)
			}
		})
	}
}

func TestApprovalIsSpentOnce(t *testing.T) {
	t.Parallel()
	a, err := Confirm(shown(), "i", "s", shown().Digest("i", "s"), "force-unlock a-1")
	if err != nil {
		t.Fatal(err)
	}
	var spent atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := a.Spend(); err == nil {
				spent.Add(1)
			}
		})
	}
	all.Wait()
	if spent.Load() != 1 {
		t.Fatalf("spent %d times, want once", spent.Load())
	}
	for name, a := range map[string]*Approval{"nil": nil, "zero": {}} {
		if _, err := a.Spend(); !errors.Is(err, ErrSpent) {
			t.Errorf("%s approval: Spend() = %v, want ErrSpent", name, err)
		}
	}
}

// TestDigestCoversEachPart changes one thing at a time.
func TestDigestCoversEachPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 12, -1)
		p := Preview{Request: text.Draw(rt, "request"), Command: text.Draw(rt, "command")}
		for range rapid.IntRange(0, 4).Draw(rt, "lines") {
			p.Target = append(p.Target, KV{Key: text.Draw(rt, "key"), Value: text.Draw(rt, "value")})
		}
		q := p
		q.Target = slices.Clone(p.Target)
		if p.Digest("i", "s") != q.Digest("i", "s") {
			rt.Fatal("the same preview has two digests")
		}
		other := text.Filter(func(s string) bool { return s != p.Request && s != p.Command }).Draw(rt, "other")
		switch rapid.IntRange(0, 3).Draw(rt, "part") {
		case 0:
			q.Request = other
		case 1:
			q.Command = other
		case 2:
			q.Target = append(q.Target, KV{Key: "more", Value: other})
		case 3:
			if len(q.Target) == 0 {
				return
			}
			q.Target[0].Value += "x"
		}
		if p.Digest("i", "s") == q.Digest("i", "s") {
			rt.Fatalf("%+v and %+v have one digest", p, q)
		}
	})
}

func TestPhrase(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"a-1":           "strip a-1",
		"ns/job.x@v:1":  "strip ns/job.x@v:1",
		"two words":     "strip #" + Phrase("", "two words")[2:],
		"\u202egnp.exe": "strip #" + Phrase("", "\u202egnp.exe")[2:],
		"":              "strip #" + Phrase("", "")[2:],
	} {
		got := Phrase("strip", target)
		if got != want {
			t.Errorf("Phrase(%q) = %q, want %q", target, got, want)
		}
		for _, r := range got {
			if r > '~' || r < ' ' {
				t.Errorf("Phrase(%q) holds %q, which could be mistaken", target, r)
			}
		}
	}
}

func TestPhraseDiffers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		typed string
		want  int
	}{{"unlock é1", 0}, {"unlock é2", 9}, {"unlock", 7}, {"", 1}, {"unlock é1 ", 10}, {"Unlock é1", 1}} {
		if got := PhraseDiffers("unlock é1", tc.typed); got != tc.want {
			t.Errorf("PhraseDiffers(%q) = %d, want %d", tc.typed, got, tc.want)
		}
	}
}

// An act of another kind, or one whose preview comes out of a journal, has no
// arguments.
func TestArgsAreOfOneType(t *testing.T) {
	t.Parallel()
	if got, err := ArgsOf[[]string](Preview{Args: []string{"a"}}); err != nil || len(got) != 1 {
		t.Errorf("ArgsOf() = %q, %v", got, err)
	}
	for _, p := range []Preview{{}, {Args: "a"}, {Args: Params{}}} {
		if got, err := ArgsOf[[]string](p); err == nil {
			t.Errorf("ArgsOf(%+v) = %q", p.Args, got)
		}
	}
}
