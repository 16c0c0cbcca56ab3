package forge

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/joblog"
)

func at(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }

// TestJudge: whose approval of which commit stands.
func TestJudge(t *testing.T) {
	t.Parallel()
	d1, d2 := strings.Repeat("1", 64), strings.Repeat("2", 64)
	for _, tc := range []struct {
		name    string
		reviews []review
		best    string
		unclear bool
		own     bool
		head    int
		refuse  int
		digests []string
	}{
		{name: "by its digest", reviews: []review{{login: "b", says: approved, commit: "h", digests: []string{d1, d2}}}, best: "head", head: 1, digests: []string{d1, d2}},
		{name: "an older commit, by its digest", reviews: []review{{login: "b", says: approved, commit: "o", digests: []string{d1}}}, best: "older"},
		{name: "a comment names a digest", reviews: []review{{login: "b", says: approved, commit: "h", at: at(1)}, {login: "b", says: comment, commit: "h", at: at(2), digests: []string{d1}}}, best: "head", head: 1},
		{name: "one who wrote a commit names a digest", reviews: []review{{login: "w", says: approved, commit: "h", digests: []string{d1}}}, best: "head", head: 1},
		{name: "the author names a digest", reviews: []review{{login: "a", says: approved, commit: "h", digests: []string{d1}}}, best: "own", own: true},
		{name: "a stranger approves", reviews: []review{{login: "x", says: approved, commit: "h", lacks: true, digests: []string{d1}}}, best: "absent"},
		{name: "given again for another plan", reviews: []review{{login: "b", says: approved, commit: "h", at: at(1), digests: []string{d1}}, {login: "b", says: approved, commit: "h", at: at(2), digests: []string{d2}}}, best: "head", head: 1, digests: []string{d2}},
		{"none", nil, "absent", false, false, 0, 0, nil},
		{"of the head", []review{{login: "b", says: approved, commit: "h", at: at(1)}}, "head", false, false, 1, 0, nil},
		{"of the head, outdated for the forge", []review{{login: "b", says: approved, commit: "h", at: at(1), stale: true}}, "older", false, false, 0, 0, nil},
		{"of an older commit", []review{{login: "b", says: approved, commit: "o", at: at(1)}}, "older", false, false, 0, 0, nil},
		{"of no commit that is known", []review{{login: "b", says: approved, at: at(1)}}, "absent", true, false, 0, 0, nil},
		{"the author's own", []review{{login: "a", says: approved, commit: "h", at: at(1)}}, "own", false, true, 0, 0, nil},
		{"the author's own, of no known commit", []review{{login: "a", says: approved, at: at(1)}}, "own", false, true, 0, 0, nil},
		{"taken back", []review{{login: "b", says: approved, commit: "h", at: at(1)}, {login: "b", says: changes, commit: "h", at: at(2)}}, "absent", false, false, 0, 1, nil},
		{"taken back, listed the other way", []review{{login: "b", says: changes, commit: "h", at: at(2)}, {login: "b", says: approved, commit: "h", at: at(1)}}, "absent", false, false, 0, 1, nil},
		{"a comment takes nothing back", []review{{login: "b", says: approved, commit: "h", at: at(1)}, {login: "b", says: comment, commit: "h", at: at(2)}}, "head", false, false, 1, 0, nil},
		{"dismissed", []review{{login: "b", says: dismissed, commit: "h", at: at(1)}}, "absent", false, false, 0, 0, nil},
		{"one older, one of the head", []review{{login: "b", says: approved, commit: "o", at: at(1)}, {login: "c", says: approved, commit: "h", at: at(2)}}, "head", false, false, 1, 0, nil},
		{"given again", []review{{login: "b", says: approved, commit: "o", at: at(1)}, {login: "b", says: approved, commit: "h", at: at(2)}}, "head", false, false, 1, 0, nil},
	} {
		j := judge(pull{author: "a", writers: []string{"a", "w"}, head: "h", reviews: tc.reviews})
		if j.best != tc.best || j.unclear != tc.unclear || j.own != tc.own || len(j.head) != tc.head || len(j.refusers) != tc.refuse || !slices.Equal(j.digests, tc.digests) {
			t.Errorf("%s: %+v", tc.name, j)
		}
	}
}

// TestOutsiders: an approval by a person who may not write to the repository is listed, and counts for nothing.
func TestOutsiders(t *testing.T) {
	t.Parallel()
	for says, counts := range map[string]bool{
		`"official": true`: true, `"official": false`: false, // Gitea
		`"author_association": "OWNER"`: true, `"author_association": "COLLABORATOR"`: true, `"author_association": "NONE"`: false, `"author_association": "CONTRIBUTOR"`: false, // GitHub
	} {
		list, _, err := parseHubReviews([]byte(`[{"user": {"login": "x"}, "state": "APPROVED", "commit_id": "` + strings.Repeat("a", 40) + `", ` + says + `}]`))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", says, list, err)
		}
		if j := judge(pull{author: "a", head: strings.Repeat("a", 40), reviews: list}); (j.best == "head") != counts || (len(j.outside) == 0) != counts {
			t.Errorf("%s: %+v", says, j)
		}
	}
}

// TestSum: a run is over when each of its jobs is, and none that waits can be hidden.
func TestSum(t *testing.T) {
	t.Parallel()
	ended := job{state: over, result: success}
	for _, tc := range []struct {
		name    string
		jobs    []job
		waiting int
		err     error
		state   string
		result  string
	}{
		{"all ended", []job{ended, ended}, 0, nil, over, success},
		{"one failed", []job{ended, {state: over, result: failure}}, 0, nil, over, failure},
		{"one cancelled", []job{{state: over, result: cancelled}, ended}, 0, nil, over, cancelled},
		{"one runs", []job{ended, {state: running}}, 0, nil, running, ""},
		{"one runs, the others cannot be seen", []job{{state: running}}, 0, errNotSeen, running, ""},
		{"one waits", []job{ended, {state: queued}}, 0, nil, queued, ""},
		{"one waits elsewhere", []job{ended}, 1, nil, queued, ""},
		{"what waits cannot be seen", []job{ended}, 0, errNotSeen, "", ""},
		{"a state that is not known", []job{{}}, 0, nil, queued, ""},
	} {
		r := run{jobs: tc.jobs, not: gaps{}}
		r.sum(tc.waiting, tc.err)
		if r.state != tc.state || r.result != tc.result || (r.not[partState] != "") != (tc.state == "") {
			t.Errorf("%s: %q %q %q", tc.name, r.state, r.result, r.not)
		}
	}
}

// TestStates: what a forge says of a run in any word that is not known is unknown, and never over.
func TestStates(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"completed success": over, "completed failure": over, "completed action_required": queued, "in_progress ": running, "queued ": queued,
		"waiting ": queued, "completed ": "", "": "", "done success": ""} {
		status, conclusion, _ := strings.Cut(in, " ")
		if got, _ := stateOf(status, conclusion); got != want {
			t.Errorf("GitHub's %q is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"success": over, "failed": over, "canceled": over, "skipped": over, "canceling": running, "running": running, "manual": queued, "pending": queued, "": "", "done": ""} {
		if got, _ := labState(in); got != want {
			t.Errorf("GitLab's %q is %q, want %q", in, got, want)
		}
	}
}

// TestPlace: where the forge is stands in the environment, and what is missing is said with what to do.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ environ, base, says string }{
		{"", "", "no forge is named: set GITEA_TOKEN and GITEA_SERVER_URL"},
		{"GITEA_TOKEN=t", "", "GITEA_TOKEN is set and GITEA_SERVER_URL is not"},
		{"GITEA_TOKEN=t GITEA_SERVER_URL=https://git.example.com/", "https://git.example.com/api/v1", ""},
		{"GITEA_TOKEN=t GITEA_SERVER_URL=https://example.com/git", "https://example.com/git/api/v1", ""},
		{"GITEA_TOKEN=t GITEA_SERVER_URL=http://git.example.com", "", "GITEA_SERVER_URL: git.example.com is asked over https alone"},
		{"GITEA_TOKEN=t GITEA_SERVER_URL=https://169.254.169.254", "", "GITEA_SERVER_URL: "},
		{"GITHUB_TOKEN=t", "https://api.github.com", ""},
		{"GH_TOKEN=t GITHUB_SERVER_URL=https://github.com", "https://api.github.com", ""},
		{"GH_TOKEN=t GITHUB_SERVER_URL=https://ghe.example.com", "https://ghe.example.com/api/v3", ""},
		{"GH_TOKEN=t GITHUB_API_URL=https://ghe.example.com/api/v3", "https://ghe.example.com/api/v3", ""},
		{"GITLAB_TOKEN=t", "https://gitlab.com/api/v4", ""},
		{"GITLAB_TOKEN=t CI_SERVER_URL=https://lab.example.com", "https://lab.example.com/api/v4", ""},
		{"GITLAB_TOKEN=t GITHUB_TOKEN=t", "", "set HANDRAIL_FORGE to gitea, github or gitlab"},
		{"GITLAB_TOKEN=t GITHUB_TOKEN=t HANDRAIL_FORGE=gitlab", "https://gitlab.com/api/v4", ""},
		{"GITLAB_TOKEN=t HANDRAIL_FORGE=github", "", "HANDRAIL_FORGE is github, and no token of it is set"},
		{"GITLAB_TOKEN=t HANDRAIL_FORGE=bitbucket", "", `HANDRAIL_FORGE is "bitbucket"`},
		{"GITLAB_TOKEN=t\tx", "", "GITLAB_TOKEN has a blank"},
	} {
		p, err := placeOf(steps.Env{Environ: strings.Split(tc.environ, " ")})
		if tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) || tc.says == "" && (err != nil || p.base.String() != tc.base) {
			t.Errorf("%q: %v, %v, want %s%s", tc.environ, p.base, err, tc.base, tc.says)
		}
	}
}

// asking is a client of a server that a test plays.
func asking(t *testing.T, v vendor, h http.HandlerFunc) *client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	environ := map[vendor]string{gitea: "GITEA_TOKEN=t GITEA_SERVER_URL=", github: "GITHUB_TOKEN=t GITHUB_API_URL=", gitlab: "GITLAB_TOKEN=t GITLAB_URL="}[v]
	c, err := newClient(steps.Env{Environ: strings.Split(environ+server.URL, " ")}, nil, steps.SecretsOnly(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.done)
	return c
}

// TestPages: a list is read to its end or it is unknown, however the forge says that it goes on.
func TestPages(t *testing.T) {
	t.Parallel()
	const entries = 7
	serve := func(header func(http.Header, int), pages int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("page"))
			header(w.Header(), n)
			if n > pages {
				n = 0
			}
			fmt.Fprint(w, n)
		}
	}
	parse := func(raw []byte) (page, error) {
		if string(raw) == "0" {
			return page{0, -1}, nil
		}
		return page{entries, -1}, nil
	}
	none := func(http.Header, int) {}
	for _, tc := range []struct {
		name   string
		v      vendor
		header func(http.Header, int)
		pages  int
		asked  int
		err    string
	}{
		{"Link", github, func(h http.Header, n int) {
			if n < 3 {
				h.Set("Link", `<https://x>; rel="next", <https://x>; rel="last"`)
			}
		}, 3, 3, ""},
		{"one page", github, none, 1, 1, ""},
		{"X-Total-Count", gitea, func(h http.Header, _ int) { h.Set("X-Total-Count", "14") }, 2, 2, ""},
		{"nothing said", gitea, none, 3, 4, ""},
		{"X-Next-Page", gitlab, func(h http.Header, n int) { h["X-Next-Page"] = []string{map[bool]string{true: "2"}[n == 1]} }, 2, 2, ""},
		{"fewer than said", gitea, func(h http.Header, _ int) { h.Set("X-Total-Count", "99") }, 2, 3, "read again"},
		{"without end", gitea, none, 1000, mostPages, errLong.Error()},
		{"a total that a page repeats", gitea, func(h http.Header, _ int) { h.Set("X-Total-Count", "999999") }, 1000, mostPages, errLong.Error()},
	} {
		asked := 0
		inner := serve(tc.header, tc.pages)
		c := asking(t, tc.v, func(w http.ResponseWriter, r *http.Request) { asked++; inner(w, r) })
		err := c.each(t.Context(), "/list", "", parse)
		if asked != tc.asked || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %d pages, %v, want %d and %q", tc.name, asked, err, tc.asked, tc.err)
		}
	}
}

// TestAnswers: each way in which a forge does not answer is told apart.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		h    http.HandlerFunc
		says string
		is   error
	}{
		{"no right", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(403)
			fmt.Fprint(w, `{"message":"Resource not accessible by personal access token"}`)
		}, "may not read", steps.ErrDenied},
		{"asked too often", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "1769110392")
			w.WriteHeader(403)
		}, "ask again after 2026-01-22T19:33:12Z", nil},
		{"out of order", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, "answered 502", nil},
		{"a page of a proxy", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>sign in</html>") }, "something else than was asked for", nil},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", mostAnswer+1))
		}, "more than the 8 MiB", nil},
		{"a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "redirects more than 3 times", nil},
		{"out of its API", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, "leaves the path prefix", nil},
	} {
		c := asking(t, gitlab, tc.h)
		_, err := c.reader().pull(t.Context(), "a/b", 1)
		if err == nil || !strings.Contains(err.Error(), tc.says) || tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	moved := asking(t, gitlab, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/merge_requests/1") && !strings.Contains(r.URL.Path, "moved") {
			http.Redirect(w, r, "/api/v4/projects/moved/merge_requests/1", http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, `{"iid":1,"state":"opened"}`)
	})
	if p, err := moved.reader().pull(t.Context(), "a/b", 1); err != nil || p.number != 1 {
		t.Errorf("a repository that moved on the same server: %+v, %v", p, err)
	}
}

// TestResets: of GitLab it is known for what an approval was where a push takes approvals away.
func TestResets(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("a", 40)
	for resets, want := range map[string]string{"true": "head", "false": "?", "null": "?"} {
		c := asking(t, gitlab, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/merge_requests/1"):
				fmt.Fprintf(w, `{"iid":1,"state":"opened","sha":%q,"author":{"username":"a"}}`, head)
			case strings.HasSuffix(r.URL.Path, "/merge_requests/1/approvals"):
				fmt.Fprint(w, `{"approvals_required":1,"approved_by":[{"user":{"username":"b"}}]}`)
			case strings.HasSuffix(r.URL.Path, "/approvals"):
				fmt.Fprintf(w, `{"reset_approvals_on_push":%s}`, resets)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		})
		p, err := c.reader().pull(t.Context(), "a/b", 1)
		if err != nil {
			t.Fatal(err)
		}
		a := asked{client: c, f: steps.NewFacts(pullFacts()), in: steps.Params{}}
		a.tellPull(p, &steps.Observation{})
		said(t, steps.Observation{Facts: a.f.Rest("not set")}, map[string]string{"approval": want, "checks": "?", "files": "?", "owners_file": "?", "behind": "?"})
	}
}

// longLog is a log of so many bytes, which ends in an error.
type longLog struct {
	left int // whole lines
	at   int
	end  io.Reader
}

const logLine = "2026-01-22T19:33:10.1234567Z aws_instance.web[\"a\"]: Still creating... [10s elapsed]\n"

func (l *longLog) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return l.end.Read(p)
	}
	n := 0
	for n < len(p) && l.left > 0 {
		m := copy(p[n:], logLine[l.at:])
		n, l.at = n+m, l.at+m
		if l.at == len(logLine) {
			l.at, l.left = 0, l.left-1
		}
	}
	return n, nil
}

// counter is a sink that counts and keeps nothing.
type counter struct {
	steps.SecretsOnly
	n    int64
	peak uint64
}

func (c *counter) Artifact(string, string) io.WriteCloser { return c }
func (c *counter) Close() error                           { return nil }
func (c *counter) Write(p []byte) (int, error) {
	if c.n>>22 != (c.n+int64(len(p)))>>22 { // every 4 MiB
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.peak = max(c.peak, m.HeapAlloc)
	}
	c.n += int64(len(p))
	return len(p), nil
}

// TestLongLog reads a log of 100 MB: it goes through, and memory stays where it was.
func TestLongLog(t *testing.T) {
	const size = 100 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/trace"):
			_, _ = io.Copy(w, &longLog{size/len(logLine) + 1, 0, strings.NewReader("section_start:1:step_script\r\x1b[0K$ tofu apply\n│ Error: timeout\nERROR: Job failed: exit code 1\n")})
		case strings.HasSuffix(r.URL.Path, "/jobs"):
			w.Header()["X-Next-Page"] = []string{""}
			fmt.Fprint(w, `[{"id":5,"name":"apply","status":"failed"}]`)
		default:
			fmt.Fprint(w, `{"id":4,"status":"failed"}`)
		}
	}))
	t.Cleanup(server.Close)
	env := steps.Env{Environ: []string{"GITLAB_URL=" + server.URL, "GITLAB_TOKEN=0123456789"}}
	read := func(most int64) (steps.Observation, *counter) {
		t.Helper()
		out := &counter{}
		p := probe{env: env, facts: logFacts(), read: readLog}
		obs, err := p.Probe(t.Context(), steps.Params{"repo": steps.StringOf("a/b"), "run": steps.IdentOf("4"), "most": steps.IntOf(most)}, out)
		if err != nil {
			t.Fatal(err)
		}
		return obs, out
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	obs, out := read(256)
	said(t, obs, map[string]string{"whole": "true", "error": "Error: timeout", "failed_step": "step_script", "exit_code": "1"})
	if out.n < size || obs.Facts["bytes"].Int() != out.n {
		t.Errorf("%d bytes were kept of %s", out.n, obs.Facts["bytes"].Text())
	}
	t.Logf("%d MiB read, the heap grew by at most %d MiB", out.n>>20, (int64(out.peak)-int64(before.HeapAlloc))>>20)
	if grew := int64(out.peak) - int64(before.HeapAlloc); grew > 32<<20 {
		t.Errorf("the heap grew by %d bytes", grew)
	}
	obs, _ = read(1)
	said(t, obs, map[string]string{"whole": "false", "error": "?", "errors": "?", "failed_step": "?"})
}

// TestToolsOfALog: a version is the whole line that a tool prints of itself, behind whatever the log puts before its lines.
func TestToolsOfALog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"OpenTofu v1.12.6\non linux_amd64\n":                                       {"OpenTofu v1.12.6"},
		"2026-01-22T19:33:10.1234567Z Terraform v1.15.0-rc1\n":                     {"Terraform v1.15.0-rc1"},
		"Terraform v1.5.7\non linux_amd64\nOpenTofu v1.12.6\nTerraform v1.5.7\n":   {"Terraform v1.5.7", "OpenTofu v1.12.6"},
		"Your version of Terraform is out of date! The latest is Terraform v1.9.0": nil,
		"Terraform v1.9.0 will be used\nusing OpenTofu v1.12.6\n":                  nil,
		"Terraform v1.9\nTerraform vNEXT\n":                                        nil,
	} {
		h := newHearing()
		if err := joblog.Each(strings.NewReader(text), h.line); err != nil {
			t.Fatal(err)
		}
		if got := h.end().tools; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
