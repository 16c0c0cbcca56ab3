package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"handrail/cli/process"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/gitread"
	"handrail/steps/terraform/module"
	"handrail/triage"
)

// What an incident is worked with and on is looked at by itself, since no person
// writes it down at three in the morning. It reads files and asks the cluster
// what it says to all who ask; it starts no program.

// ciVariables are the variables of GitHub Actions and GitLab that name a run and
// hold no secret.
func ciVariables() []string {
	return strings.Fields(`CI GITHUB_ACTIONS GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_WORKFLOW GITHUB_WORKFLOW_REF GITHUB_RUN_ID GITHUB_RUN_NUMBER
		GITHUB_RUN_ATTEMPT GITHUB_JOB GITHUB_SHA GITHUB_REF GITHUB_HEAD_REF GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_ACTOR GITHUB_TRIGGERING_ACTOR
		RUNNER_NAME RUNNER_OS RUNNER_ARCH RUNNER_ENVIRONMENT
		GITLAB_CI CI_PROJECT_PATH CI_PROJECT_ID CI_PIPELINE_ID CI_PIPELINE_SOURCE CI_JOB_ID CI_JOB_NAME CI_COMMIT_SHA CI_COMMIT_REF_NAME
		CI_MERGE_REQUEST_IID CI_RUNNER_ID CI_RUNNER_DESCRIPTION CI_ENVIRONMENT_NAME GITLAB_USER_LOGIN`)
}

// about gathers what was seen; what could not be had stays with its reason.
type about map[string]steps.Value

func (a about) text(name, v string)  { a[name] = steps.StringOf(v) }
func (a about) ident(name, v string) { a[name] = steps.IdentOf(v) }

func (a about) not(why error, names ...string) {
	for _, n := range names {
		a[n] = steps.Unknown(steps.String, "could not check, because "+why.Error())
	}
}

// unseen is a look at a cluster that cannot be asked.
func unseen(why string) session.Gather {
	return func(context.Context, steps.Env, triage.State) map[string]steps.Value {
		a := about{}
		a.not(errors.New(why), serverNames()...)
		return a
	}
}

func serverNames() []string {
	return []string{"cluster.server", "cluster.uid", "cluster.version", "cluster.skew", "api.user", "api.groups"}
}

// machineAround looks at this machine.
func machineAround(ctx context.Context, env steps.Env, st triage.State) map[string]steps.Value {
	a := about{}
	a.machine(env)
	a.git(ctx, env.Dir)
	a.ci(env)
	a.module(env, st)
	a.own(ctx)
	a.tool(ctx, env)
	return a
}

func (a about) machine(env steps.Env) {
	a.text("host.name", env.Host)
	a.text("host.os", runtime.GOOS+"/"+runtime.GOARCH)
	a.text("host.user", env.User)
	a.text("host.dir", env.Dir)
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		a.text("host.kernel", strings.TrimSpace(string(b)))
	} else {
		a.not(err, "host.kernel")
	}
	switch id, err := containerID(); {
	case err != nil:
		a.not(err, "host.container")
	case id == "":
		a.text("host.container", "none seen")
	default:
		a.ident("host.container", id)
	}
}

var inContainer = regexp.MustCompile(`(?:containers|docker|cri-containerd|crio|libpod|sandboxes)[-/]([0-9a-f]{64})`)

// containerID is the id of the container that handrail runs in, "" where it
// seems to run in none.
func containerID() (string, error) {
	var err error
	for _, name := range []string{"/proc/self/cgroup", "/proc/self/mountinfo"} {
		f, e := os.Open(name)
		if e != nil {
			err = e
			continue
		}
		b, e := io.ReadAll(io.LimitReader(f, 1<<20))
		_ = f.Close() // it was only read
		if m := inContainer.FindSubmatch(b); e == nil && m != nil {
			return string(m[1]), nil
		}
	}
	return "", err
}

func (a about) git(ctx context.Context, dir string) {
	c, err := gitread.Open(dir)
	if err != nil {
		a.not(err, "git.head", "git.branch", "git.dirty")
		return
	}
	commit, branch, err := c.Head()
	if a.text("git.branch", branch); err != nil {
		a.not(err, "git.head")
	} else {
		a.ident("git.head", commit)
	}
	n, all, err := c.Changed(ctx)
	if len(commit) == 2*sha256.Size {
		err = errors.New("the clone names content by SHA-256, which is not read here")
	}
	if err != nil {
		a.not(err, "git.dirty")
		return
	}
	a.text("git.dirty", fmt.Sprintf("%d of %d tracked files differ from the index; what is staged or not tracked was not looked at", n, all))
}

func (a about) ci(env steps.Env) {
	found := false
	for _, name := range ciVariables() {
		if v := env.Getenv(name); v != "" {
			a.ident("ci."+name, v)
			found = true
		}
	}
	if !found {
		a.text("ci", "no variable of GitHub Actions or GitLab is set")
	}
}

// module tells workspace and backend, where the runbook is about a root module.
func (a about) module(env steps.Env, st triage.State) {
	plan, is := st.Plan(), false
	for _, s := range plan.Steps {
		is = is || strings.HasPrefix(s.Uses, "terraform/")
	}
	if !is {
		return
	}
	in := steps.Params{}
	for _, name := range []string{"dir", "workspace"} {
		var v steps.Value
		if raw, ok := plan.Params[name]; ok && raw.Known() {
			v = steps.StringOf(raw.Text())
		}
		in[name] = v
	}
	space, backend, err := module.Where(env, in)
	if err != nil {
		a.not(err, "terraform.workspace", "terraform.backend")
		return
	}
	a.text("terraform.workspace", space)
	a.text("terraform.backend", backend)
}

// own tells which handrail this is.
func (a about) own(ctx context.Context) {
	v := process.BuildVersion()
	a.text("handrail.version", v.Version)
	a.text("handrail.go", v.Go)
	if v.Revision == "" {
		a.not(errors.New("this build does not say from which commit it was made"), "handrail.commit")
	} else {
		a.ident("handrail.commit", v.Revision)
		a.text("handrail.modified", fmt.Sprint(v.Modified))
	}
	path, err := os.Executable()
	if err != nil {
		a.not(err, "handrail.path", "handrail.sha256")
		return
	}
	a.program(ctx, "handrail", path)
}

// tool tells which tofu or terraform would be run. It is not run for that: in a
// directory that is not trusted it could do anything.
func (a about) tool(ctx context.Context, env steps.Env) {
	if env.Tool == nil {
		return
	}
	path, err := env.Tool("tofu")
	if err != nil {
		a.not(err, "tofu.path", "tofu.sha256", "tofu.version")
		return
	}
	a.program(ctx, "tofu", path)
	a.not(errors.New("only a heavy step runs it, in a trusted directory"), "tofu.version")
}

func (a about) program(ctx context.Context, name, path string) {
	a.text(name+".path", path)
	sum, err := fileSum(ctx, path)
	if err != nil {
		a.not(err, name+".sha256")
		return
	}
	a.ident(name+".sha256", sum)
}

// fileSum is the SHA-256 of a regular file.
func fileSum(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	for ctx.Err() == nil {
		_, err := io.CopyN(h, f, 4<<20)
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", context.Cause(ctx)
}

// clusterAround asks the cluster what it is and as whom it knows the operator.
func clusterAround(ctx context.Context, env steps.Env, st triage.State) map[string]steps.Value {
	a := about{}
	c, err := clusterOf(env)
	if err != nil {
		return unseen(err.Error())(ctx, env, st)
	}
	a.text("cluster.server", c.Server)
	a.ident("cluster.context", c.Context)
	var best time.Duration
	c.heard = func(date string, sent, got time.Time) {
		at, err := http.ParseTime(date)
		if rtt := got.Sub(sent); err == nil && (best == 0 || rtt < best) {
			best = rtt
			a.text("cluster.skew", skew(at, sent, got))
		}
	}
	a.not(errors.New("the server did not say what time it is"), "cluster.skew")
	a.version(ctx, c)
	a.identity(ctx, c)
	var ns struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	switch err := c.ask(ctx, http.MethodGet, "/api/v1/namespaces/kube-system", "", &ns); {
	case err != nil:
		a.not(err, "cluster.uid")
	case ns.Metadata.UID == "":
		a.not(errors.New("the namespace kube-system has no UID"), "cluster.uid")
	default:
		a.ident("cluster.uid", ns.Metadata.UID)
	}
	return a
}

func (a about) version(ctx context.Context, c apiServer) {
	if v, err := c.serverVersion(ctx); err != nil {
		a.not(err, "cluster.version")
	} else {
		a.text("cluster.version", v)
	}
}

func (a about) identity(ctx context.Context, c apiServer) {
	var review struct {
		Status struct {
			UserInfo struct {
				Username string   `json:"username"`
				UID      string   `json:"uid"`
				Groups   []string `json:"groups"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	if err := c.ask(ctx, http.MethodPost, whoPath, whoBody, &review); err != nil {
		a.not(err, "api.user", "api.groups")
		return
	}
	who := review.Status.UserInfo
	a.text("api.user", who.Username)
	a["api.groups"] = steps.StringsOf(who.Groups)
	if who.UID != "" {
		a.ident("api.uid", who.UID)
	}
}

// skew says how far the clock of a server is from ours. The header has whole
// seconds, and when in between it was written is unknown.
func skew(server, sent, got time.Time) string {
	rtt := got.Sub(sent)
	off := server.Add(500 * time.Millisecond).Sub(sent.Add(rtt / 2))
	give := rtt/2 + 500*time.Millisecond
	return fmt.Sprintf("%+.1fs, give or take %.1fs", off.Seconds(), give.Seconds())
}
