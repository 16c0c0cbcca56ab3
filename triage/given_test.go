package triage

import (
	"fmt"
	"strings"
	"testing"
)

func TestProofGivesItemsByTheirOwnValues(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ covers, proof, want string }{
		{"E1 E2 E3", "no CI: it ran on this machine", "E3 none"},
		{"E1 E2 E3", "commit 1a2b3c4, PR #12, run 991", "E1=1a2b3c4 E2=12 E3=991"},
		{"E1 E2 E3", "https://git.example.com/infra/pull/12 at 9fceb02d0ae598e95dc970b74767f19372d61af8", "E1=9fceb02d0ae598e95dc970b74767f19372d61af8 E2=12"},
		{"E1 E2 E3", "E1 1a2b3c4; E2 none; E3 job 7", "E1=1a2b3c4 E2 none E3=job 7"},
		{"E1 E2 E3", "asked Ben, he said it is fine", ""},
		{"E1 E2 E3", "not committed, no pull request, run 7 failed", "E1 none E2 none E3=7"},
		{"E1 E2 E3 E5 E6 E7 E11", "the run, and the calls with their request ids", ""},
		{"E5 E6", "policy passed, approved by @ana for 2f1c…", "E5=passed E6=@ana"},
		{"E3", "https://ci.example.com/runs/4711 failed", "E3=https://ci.example.com/runs/4711 failed"},
		{"E1", "E1 none", "E1 none"},
		{"E1 E3", "commit 12, run 1234567, a defaced page", "E3=1234567"},
		{"E3", "none", "E3 none"},
		{"E1 E2 E3", "none", "E1 none E2 none E3 none"},
		{"E1 E2 E3 E6", "commit 4c1d09e2, pull request 71, run 902, approver none", "E1=4c1d09e2 E2=71 E3=902 E6 none"},
		{"E1 E3", "commit none; run 9", "E1 none E3=9"},
		{"E1 E2 E3", "run 7, none of the others", "E1 none E2 none E3=7"},
		{"E2 E3", "none of it has a pull request. Run 7", "E2 none E3=7"},
		{"E1 E3 E7", "run 4711: its runner is gone", "E3=4711 E7=gone"},
		{"E1 E3 E6", "(commit 1a2b3c4). Run 12! Approved by ana.", "E1=1a2b3c4 E3=12 E6=ana"},
		{"E2 E6", "approved in review 7", ""},
		{"E2 E6", "PR 12, approved by review 7", "E2=12"},
		{"E2 E6", "approved in PR 12 by ana", "E2=12 E6=ana"},
		{"E3", "E3 4711:", "E3=4711:"},
		{"E3 E6 E7", "apply by hand on vm, root", ""},
		{"E3 E6", "run 12 was started by jenkins", "E3=12"},
		{"E6 E7", "approved on the call by ana", "E6=ana"},
		{"E5 E6", "policy ok, signed off yesterday by ben", "E5=ok E6=ben"},
		{"", "anything", ""},
	} {
		var got []string
		for _, g := range GivenBy(strings.Fields(tc.covers), tc.proof) {
			if g.None {
				got = append(got, g.Item+" none")
				continue
			}
			got = append(got, fmt.Sprintf("%s=%s", g.Item, g.Value))
		}
		if is := strings.Join(got, " "); is != tc.want {
			t.Errorf("%q gives %q, want %q", tc.proof, is, tc.want)
		}
	}
}
