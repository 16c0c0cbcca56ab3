package forge

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documented serves the answers of a documentation from a folder, each under its path. What has no file is not found, as
// what a token may not see is.
func documented(t *testing.T, folder, prefix, header, token string, away map[string]string) *seenServer {
	t.Helper()
	s := &seenServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		if r.Header.Get(header) != token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintln(w, `{"message":"Bad credentials"}`)
			return
		}
		if to := away[r.URL.Path]; to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		below, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
		name, err := url.PathUnescape(below)
		if !ok || err != nil || strings.Contains(name, "../") {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, `{"message":"Not Found"}`)
			return
		}
		if commit := r.URL.Query().Get("head_sha") + r.URL.Query().Get("sha"); commit != "" {
			name += "@" + commit[:7]
		}
		for _, ext := range []string{".json", ".txt"} {
			if raw, err := os.ReadFile(filepath.Join("testdata", folder, filepath.FromSlash(strings.TrimSuffix(name, "/"))+ext)); err == nil {
				if strings.HasPrefix(folder, "gitlab") {
					w.Header().Set("X-Next-Page", "")
				}
				_, _ = w.Write(raw)
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintln(w, `{"message":"Not Found"}`)
	}))
	t.Cleanup(server.Close)
	s.url, s.close = server.URL, server.Close
	return s
}

const (
	docToken  = "documented-token-0123456789abcdef"
	docHead   = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
	docOlder  = "7638417db6d59f3c431d3e1f261cc637155684cd"
	docFailed = "ecdd80bb57125d7ba9641ffaa4d7d2c19d3f3091"
)

func githubWorld(t *testing.T) *world {
	t.Helper()
	seen := documented(t, "github-docs", "/api/v3/repos/platform/live", "Authorization", "Bearer "+docToken,
		map[string]string{"/api/v3/repos/platform/live/actions/jobs/399444496/logs": "https://pipelines.example.net/job-logs/399444496.txt?sig=secret"})
	return &world{vendor: github, repo: "platform/live", author: "octocat", other: "hubot", token: docToken, seen: seen,
		environ: []string{"GITHUB_SERVER_URL=" + seen.url, "GITHUB_TOKEN=" + docToken}, stale: 1347, merged: 1340, older: docOlder, head: docHead,
		failedRun: "30433642", failedJob: "399444496", failedHead: docFailed, runningRun: "30433643"}
}

func gitlabWorld(t *testing.T) *world {
	t.Helper()
	seen := documented(t, "gitlab-docs", "/api/v4/projects/platform%2Flive", "PRIVATE-TOKEN", docToken, nil)
	return &world{vendor: gitlab, repo: "platform/live", author: "octocat", other: "hubot", token: docToken, seen: seen,
		environ: []string{"GITLAB_URL=" + seen.url, "GITLAB_TOKEN=" + docToken}, stale: 1347, merged: 1340, older: docOlder, head: docHead,
		failedRun: "30433642", failedJob: "399444496", failedHead: docFailed, runningRun: "30433643"}
}
