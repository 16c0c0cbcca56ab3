package terraform

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestCIRun finds the job of a CI system by what a killed run left behind, and
// keeps nothing else of an environment.
func TestCIRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		environ []string
		ci, id  string
		url     string
	}{
		{"github", []string{"GITHUB_ACTIONS=true", "GITHUB_RUN_ID=1234567", "GITHUB_SERVER_URL=https://github.example", "GITHUB_REPOSITORY=team/net", "GITHUB_TOKEN=opaque-token"},
			"github-actions", "1234567", "https://github.example/team/net/actions/runs/1234567"},
		{"gitlab", []string{"GITLAB_CI=true", "CI_JOB_ID=77", "CI_JOB_URL=https://gitlab.example/team/net/-/jobs/77", "CI_JOB_TOKEN=opaque-token"}, "gitlab", "77", "https://gitlab.example/team/net/-/jobs/77"},
		{"none", nil, "", "", ""},
		{"no number", []string{"GITLAB_CI=true", "CI_JOB_ID=$(rm)", "CI_JOB_URL=x"}, "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newBackend(t, "local", "", gated)
			w.bot = append(w.bot, tc.environ...)
			cmd, _ := w.hold()
			w.killTool(cmd)
			obs := w.probe("terraform/holder", steps.Params{"who": text(w.env.User + "@" + w.env.Host)})
			f := obs.Facts
			if f["alive"].Known() || f["orphans"].Int() == 0 || f["ci"].Known() != (tc.ci != "") ||
				tc.ci != "" && (f["ci"].Text() != tc.ci || f["ci_run"].Text() != tc.id || f["ci_url"].Text() != tc.url) {
				t.Errorf("holder = %v %v", f, obs.Findings)
			}
			if tc.ci == "" && !strings.Contains(f["ci"].Why(), "no job of GitHub Actions or GitLab") {
				t.Errorf("ci = %q", f["ci"].Why())
			}
		})
	}
}
