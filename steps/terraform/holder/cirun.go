package holder

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/prose"
)

// ciRun is the run of a CI system that a process belongs to.
type ciRun struct {
	system string // github-actions or gitlab
	id     string
	url    string
}

// maxEnviron bounds what is read of the environment of a process.
const maxEnviron = 1 << 20

// ciSystems are the variables by which a CI system tells its jobs who they are.
// Nothing else of an environment is looked at: the rest holds secrets.
var ciSystems = []struct {
	system, sign, id string
	url              func(get func(string) string) string
}{
	{"github-actions", "GITHUB_ACTIONS", "GITHUB_RUN_ID", func(get func(string) string) string {
		return get("GITHUB_SERVER_URL") + "/" + get("GITHUB_REPOSITORY") + "/actions/runs/" + get("GITHUB_RUN_ID")
	}},
	{"gitlab", "GITLAB_CI", "CI_JOB_ID", func(get func(string) string) string { return get("CI_JOB_URL") }},
}

var (
	ciNumber = regexp.MustCompile(`^[0-9]{1,20}$`)
	ciURL    = regexp.MustCompile(`^https?://[A-Za-z0-9.:_~/-]{1,300}$`)
)

// parseCI finds a run in the environment of a process, as the kernel shows it.
func parseCI(environ []byte) (ciRun, bool) {
	vars := map[string]string{}
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := strings.Cut(string(kv), "=")
		if strings.HasPrefix(name, "GITHUB_") || strings.HasPrefix(name, "CI_") || name == "GITLAB_CI" {
			vars[name] = value
		}
	}
	for _, s := range ciSystems {
		if vars[s.sign] != "true" || !ciNumber.MatchString(vars[s.id]) {
			continue
		}
		run := ciRun{system: s.system, id: vars[s.id]}
		if url := s.url(func(name string) string { return vars[name] }); ciURL.MatchString(url) {
			run.url = url
		}
		return run, true
	}
	return ciRun{}, false
}

// ciOf reads to which run the processes of a scan belong: what a dead run left
// behind still has its environment.
func (r Scan) ciOf(root, host string) (ciRun, string) {
	why := "no process of the run is here: look at " + runnerOf(host)
	for _, group := range [][]Process{r.Holders, r.Plugins, r.Children} {
		for _, p := range group {
			f, err := os.Open(filepath.Join(root, strconv.Itoa(p.PID), "environ"))
			if err != nil {
				why = "the environment of process " + strconv.Itoa(p.PID) + " may not be read"
				continue
			}
			raw, _ := io.ReadAll(io.LimitReader(f, maxEnviron))
			_ = f.Close()
			if run, ok := parseCI(raw); ok {
				return run, ""
			}
			why = "process " + strconv.Itoa(p.PID) + " is no job of GitHub Actions or GitLab"
		}
	}
	return ciRun{}, why
}

// gitlabRunner is the name that GitLab gives the host of a job in a container.
var gitlabRunner = regexp.MustCompile(`^runner-[0-9A-Za-z_]+-project-([0-9]+)-concurrent-[0-9]+`)

// runnerOf says where to look for the run on a host by its name.
func runnerOf(host string) string {
	if m := gitlabRunner.FindStringSubmatch(host); m != nil {
		return "the jobs of the GitLab project " + m[1] + ": the host " + steps.Clip(host, 80) + " is the container of one"
	}
	return "the job list of the CI system, for a job on the host " + prose.OrUnknown(steps.Clip(host, 80))
}
