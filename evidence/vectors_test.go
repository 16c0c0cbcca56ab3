package evidence

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

var update = flag.Bool("update", false, "write the golden files again")

// policyOf is what a verifier of this vector brings along.
func (v vector) policy(t testing.TB, base *kit) (p Policy, signers string, lines []string) {
	t.Helper()
	if len(v.signers) > 0 {
		signers = allowed(t, v.signers...)
		s, err := sig.ParseSigners([]byte(signers))
		if err != nil {
			t.Fatal(err)
		}
		p.Signers = s
	}
	if v.roots != "" {
		a, err := sig.ParseAuthorities(v.authorities(t))
		if err != nil {
			t.Fatal(err)
		}
		p.Authorities = a
	}
	if v.from != nil {
		p.From = v.from(t).write(t.TempDir())
	}
	p.SignedBy = v.signedBy
	for _, n := range v.anchors {
		c := base.at(n)
		p.Anchors, lines = append(p.Anchors, c), append(lines, c.Line())
	}
	return p, signers, lines
}

// authorities are the roots that the verifier of a vector brings along, in PEM.
func (v vector) authorities(t testing.TB) []byte {
	if v.roots == "other" {
		return sigtest.PEM(sigtest.OtherRoot(t))
	}
	return sigtest.PEM(sigtest.NewAuthority(t, "one", nil).Root)
}

func failed(r Report) []string {
	var out []string
	for _, l := range r.Lines {
		if l.Verdict == Failed && !slices.Contains(out, l.Property) {
			out = append(out, l.Property)
		}
	}
	slices.Sort(out)
	return out
}

// TestVectors holds the verifier against every sample bundle: just the properties named for it must fail.
func TestVectors(t *testing.T) {
	t.Parallel()
	good, bad := goodVectors(), badVectors()
	t.Logf("%d sample bundles: %d good, %d bad (%d %%)", len(good)+len(bad), len(good), len(bad), 100*len(bad)/(len(good)+len(bad)))
	if len(bad) < 60 || len(good)+len(bad) < 100 || 10*len(bad) < 7*(len(good)+len(bad)) {
		t.Errorf("%d good and %d bad vectors: too few must fail", len(good), len(bad))
	}
	seen := map[string]bool{}
	for _, v := range slices.Concat(good, bad) {
		if seen[v.name] {
			t.Errorf("vector %s is there twice", v.name)
		}
		seen[v.name] = true
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			k := v.base(t)
			policy, _, _ := v.policy(t, k)
			if v.edit != nil {
				v.edit(k)
			}
			r, err := policy.Verify(k.write(t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(v.fails)
			slices.Sort(want)
			if got := failed(r); !slices.Equal(got, want) || r.OK() != (len(want) == 0) {
				t.Errorf("failed: %v, want %v\n%+v", got, want, r.Lines)
			}
			for _, p := range strings.Fields(v.proven) {
				if !slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Property == p && l.Verdict == Proven }) {
					t.Errorf("%s is not proven: %+v", p, r.Lines)
				}
			}
			for _, p := range strings.Fields(v.unproven) {
				if got := r.Of(p); got == Proven {
					t.Errorf("%s is proven, want it not to be: %+v", p, r.Lines)
				}
			}
		})
	}
}
