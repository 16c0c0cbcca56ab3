package holder

import (
	"strings"
	"testing"
)

func FuzzParseCI(f *testing.F) {
	f.Add([]byte("GITHUB_ACTIONS=true\x00GITHUB_RUN_ID=1\x00GITHUB_SERVER_URL=https://h\x00GITHUB_REPOSITORY=a/b"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		run, ok := parseCI(raw)
		if ok != ciNumber.MatchString(run.id) || run.url != "" && !ciURL.MatchString(run.url) {
			t.Errorf("parseCI(%q) = %+v, %v", raw, run, ok)
		}
	})
}

func TestRunnerOfGitLab(t *testing.T) {
	t.Parallel()
	_, why := Scan{}.ciOf("/proc", "runner-ab12-project-4711-concurrent-0")
	if !strings.Contains(why, "GitLab project 4711") {
		t.Errorf("a runner of GitLab = %q", why)
	}
}
