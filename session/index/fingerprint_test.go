package index

import "testing"

func TestFingerprint(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{"Error: timed out after 30s", "error: Timed out after 905s", "  Error:  timed out after 1m30s"},
		{"2026-11-21T02:14:07Z pod web-7d9f8b6c5-x2x4z failed: exit 137", "2025-01-02T23:59:59.123Z pod web-6c8b4d7f9-bcdfg failed: exit 1"},
		{"lock 5e1c9a7c-1111-4222-8333-0123456789ab: conflict", "lock facadefe-dead-4bee-8fed-abcdefabcdef: conflict"},
		{"Nov 21 02:14:07 host sshd: refused 10.0.0.1:22", "Dec  3 23:00:00 host sshd: refused 192.168.7.9:2222"},
		{"token <redacted:bearer:0123456789abcdef> denied", "token <redacted:known:fedcba9876543210> denied"},
		{"│ Error: no such thing", "Error: no such thing"},
	}
	seen := map[Fingerprint]string{}
	for _, lines := range same {
		want := FingerprintOf(lines[0])
		if want == "" || len(want) != fingerprintLen {
			t.Errorf("FingerprintOf(%q) = %q", lines[0], want)
		}
		if other, ok := seen[want]; ok {
			t.Errorf("%q and %q are of one kind", other, lines[0])
		}
		seen[want] = lines[0]
		for _, l := range lines[1:] {
			if got := FingerprintOf(l); got != want {
				t.Errorf("FingerprintOf(%q) = %q, want that of %q: %q against %q", l, got, lines[0], normal(fold(l)), normal(fold(lines[0])))
			}
		}
	}
	for _, l := range []string{"", "all is well", "Refreshing state... [id=7]", "Warning: Unable to open CLI configuration file", "│ Warning: Argument is deprecated, and will fail"} {
		if got := FingerprintOf(l); got != "" {
			t.Errorf("FingerprintOf(%q) = %q, want none", l, got)
		}
	}
	for _, s := range []string{"", "0123", "0123456789abcdeg", "0123456789abcdef0"} {
		if _, ok := ParseFingerprint(s); ok {
			t.Errorf("ParseFingerprint(%q) takes it", s)
		}
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{"prod", "prod", true}, {"Prod", "prod", true}, {"prod", "prod-eu", false}, {"prod*", "prod-eu", true}, {"*eu", "prod-eu", true},
		{"*od-*", "prod-eu", true}, {"p*d*u", "prod-eu", true}, {"p*x*u", "prod-eu", false}, {"*", "", true}, {"a*a", "a", false}, {"", "", true},
	} {
		if got := parsePattern(c.pattern).fits(fold(c.value)); got != c.want {
			t.Errorf("%q fits %q: %v, want %v", c.pattern, c.value, got, c.want)
		}
	}
}
