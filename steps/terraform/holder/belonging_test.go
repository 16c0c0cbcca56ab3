package holder

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// fakeProc is a process table on disk, in the form of Linux.
type fakeProc struct {
	t    *testing.T
	root string
}

const bootSecond = 1_800_000_000

// takenAt is when the lock of these tests was taken.
var takenAt = time.Unix(bootSecond+1000, 0)

// row is one process of a fakeProc; started counts seconds from takenAt.
type row struct {
	pid, ppid, group int
	argv             []string
	cwd              string // "" for one that may not be looked into
	env              []string
	fds              map[int]string // w: or r:, then what it is
	started          int
}

func newFakeProc(t *testing.T, rows ...row) string {
	t.Helper()
	f := fakeProc{t, t.TempDir()}
	f.write("stat", fmt.Sprintf("cpu 0\nbtime %d\n", bootSecond))
	rows = append(rows,
		row{pid: 1, argv: []string{"/sbin/init"}, cwd: "/", group: 1, started: -1000},
		row{pid: os.Getpid(), ppid: 90, group: os.Getpid(), argv: []string{"handrail"}, cwd: "/", started: 50},
		row{pid: 90, ppid: 80, group: 90, argv: []string{"-bash"}, cwd: "/", started: 50},
		row{pid: 80, ppid: 1, group: 80, argv: []string{"sshd"}, cwd: "/", started: -900})
	for _, r := range rows {
		f.add(r)
	}
	if err := os.MkdirAll(filepath.Join(f.root, "self", "ns"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(initialPID, filepath.Join(f.root, "self", "ns", "pid")); err != nil {
		t.Fatal(err)
	}
	return f.root
}

func (f fakeProc) write(name, text string) {
	f.t.Helper()
	name = filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f fakeProc) link(name, to string) {
	f.t.Helper()
	name = filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Symlink(to, name); err != nil {
		f.t.Fatal(err)
	}
}

func (f fakeProc) add(r row) {
	pid := strconv.Itoa(r.pid)
	if r.group == 0 {
		r.group = r.pid
	}
	start := (takenAt.Unix() - bootSecond + int64(r.started)) * ticks
	f.write(pid+"/stat", fmt.Sprintf("%d (x) S %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", r.pid, r.ppid, r.group, r.group, start))
	f.write(pid+"/cmdline", strings.Join(r.argv, "\x00")+"\x00")
	f.write(pid+"/status", "Name:\tx\nUid:\t0\t0\t0\t0\n")
	f.write(pid+"/environ", strings.Join(r.env, "\x00")+"\x00")
	if r.cwd == "" {
		// A link that cannot be read is no link here: the error is another one
		// than that of a process which ended.
		f.write(pid+"/cwd", "")
	} else {
		f.link(pid+"/cwd", r.cwd)
	}
	f.link(pid+"/exe", filepath.Base(strings.TrimPrefix(r.argv[0], "-")))
	for fd, to := range r.fds {
		mode, name, _ := strings.Cut(to, ":")
		f.link(fmt.Sprintf("%s/fd/%d", pid, fd), name)
		f.write(fmt.Sprintf("%s/fdinfo/%d", pid, fd), "pos:\t0\nflags:\t010000"+map[string]string{"r": "0", "w": "1"}[mode]+"\n")
	}
}

// TestBelonging holds processes of every sort against the directory of a lock: a
// part of a run is found wherever it works, and what merely sits there shuts
// nothing.
func TestBelonging(t *testing.T) {
	t.Parallel()
	me := os.Getpid()
	for _, tc := range []struct {
		name   string
		rows   func(dir string) []row
		kids   int    // processes that a run left behind
		plug   int    // plugins
		hold   int    // tofus
		sits   int    // that merely are there
		doubt  string // why that cannot be told
		timing bool   // of an apply gate: no lock says when
	}{
		{name: "a child of a provisioner in the directory", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "-c", "sleep 9; redo"}, cwd: dir, started: 9}}
		}, kids: 1},
		{name: "the same, with no lock", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "-c", "sleep 9; redo"}, cwd: dir, started: 9}}
		}, kids: 1},
		{name: "in a session of its own, quiet", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: dir, fds: map[int]string{1: "w:/dev/null"}, started: 9}}
		}, kids: 1},
		{name: "one folder above", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "redo.sh"}, cwd: filepath.Dir(dir), started: 9}}
		}, kids: 1},
		{name: "one folder above, with no lock, by the environment of a tofu's child", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "redo.sh"}, cwd: filepath.Dir(dir), env: []string{"_=/usr/bin/tofu"}}}
		}, kids: 1},
		{name: "below the directory", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: filepath.Join(dir, "scripts"), started: 9}}
		}, kids: 1},
		{name: "in another clone with the same state", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: filepath.Join(dir, "..", "..", "clone", "live", "scripts"), started: 9}}
		}, kids: 1},
		{name: "in a directory that was removed under it", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: filepath.Join(dir, "gone") + " (deleted)", started: 9}}
		}, kids: 1},
		{name: "in the root, started in the directory", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: "/", env: []string{"OLDPWD=" + dir, "PWD=/"}, started: 9}}
		}, kids: 1},
		{name: "in the root, with the data directory of the run", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: "/", env: []string{"TF_DATA_DIR=" + filepath.Join(dir, ".terraform")}}}
		}, kids: 1},
		{name: "in the root, with a script of the directory", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"bash", filepath.Join(dir, "redo.sh")}, cwd: "/"}}
		}, kids: 1},
		{name: "in the root, with the settings of the backend open", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: "/", fds: map[int]string{7: "w:" + filepath.Join(dir, ".terraform", "x")}}}
		}, kids: 1},
		{name: "its output goes nowhere any more", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: "/", env: []string{"PWD=" + dir}, fds: map[int]string{1: "w:pipe:[77]"}}}
		}, kids: 1},
		{name: "its children, wherever they work", rows: func(dir string) []row {
			return []row{
				{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "redo.sh"}, cwd: dir, started: 9},
				{pid: 501, ppid: 500, argv: []string{"kubectl", "apply"}, cwd: "/", started: 10},
				{pid: 502, ppid: 501, argv: []string{"plugin"}, cwd: "/", started: 10},
			}
		}, kids: 3},
		{name: "others of its process group", rows: func(dir string) []row {
			return []row{
				{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "redo.sh"}, cwd: dir, started: 9},
				{pid: 510, ppid: 1, group: 400, argv: []string{"tee"}, cwd: "/", started: 9},
			}
		}, kids: 2},
		{name: "taken in by the systemd of a user", rows: func(dir string) []row {
			return []row{
				{pid: 300, ppid: 1, argv: []string{"/usr/lib/systemd/systemd", "--user"}, cwd: "/", started: -900},
				{pid: 500, ppid: 300, argv: []string{"redo"}, cwd: dir, started: 9},
			}
		}, kids: 1},
		{name: "the leader of its group lives on as the shell of a job", rows: func(dir string) []row {
			return []row{
				{pid: 400, ppid: 80, argv: []string{"bash", "job.sh"}, cwd: "/", started: -9},
				{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: dir, started: 9},
			}
		}, kids: 1},
		{name: "a shell that a provisioner left, in the form of one that sits", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"tail", "-f", "x"}, cwd: dir, started: 9}}
		}, kids: 1},
		{name: "an orphaned plugin, by a relative name", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{".terraform/providers/terraform-provider-x"}, cwd: dir, started: -9}}
		}, plug: 1},
		{name: "an orphaned plugin of another clone", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"terraform-provider-x"}, cwd: filepath.Join(dir, "..", "..", "clone", "live"), started: -9}}
		}, plug: 1},
		{name: "what an orphaned plugin started", rows: func(dir string) []row {
			return []row{
				{pid: 500, ppid: 1, group: 400, argv: []string{"terraform-provider-x"}, cwd: dir, started: -9},
				{pid: 501, ppid: 500, group: 400, argv: []string{"helm", "upgrade"}, cwd: "/", started: 9},
			}
		}, plug: 1, kids: 1},
		{name: "an orphaned plugin of another state", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"terraform-provider-x"}, cwd: filepath.Join(dir, "..", "..", "other"), started: 9}}
		}},
		{name: "a tofu with a data directory of its own", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 80, argv: []string{"tofu", "apply"}, cwd: filepath.Join(dir, "..", "..", "bare"), env: []string{"TF_DATA_DIR=" + filepath.Join(dir, "..", "..", "clone", "live", ".terraform")}, started: -9}}
		}, hold: 1},
		{name: "a tofu in a directory that was removed under it", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 80, argv: []string{"tofu", "apply"}, cwd: "/ci/build/77 (deleted)", started: -9}}
		}, doubt: "was removed under it"},
		{name: "a tofu by another name", rows: func(dir string) []row {
			return []row{
				{pid: 500, ppid: 80, argv: []string{"tf-wrapped", "apply"}, cwd: dir, started: -9},
				{pid: 501, ppid: 500, group: 500, argv: []string{"terraform-provider-x"}, cwd: dir, started: -8},
			}
		}, hold: 1},
		{name: "an executor of handrail and what it reads with", rows: func(dir string) []row {
			return []row{
				{pid: 501, ppid: me, argv: []string{"git", "status"}, cwd: dir, started: 60},
				{pid: 502, ppid: me, argv: []string{"tofu", "plan", "-lock=false"}, cwd: dir, started: 60},
				{pid: 503, ppid: 502, argv: []string{"terraform-provider-x"}, cwd: dir, started: 60},
			}
		}},
		{name: "a tofu that handrail runs and that writes", timing: true, rows: func(dir string) []row {
			return []row{{pid: 502, ppid: me, argv: []string{"tofu", "apply", "x.plan"}, cwd: dir, started: 60}}
		}, hold: 1},
		{name: "a child that cannot be looked into", rows: func(string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"sudo", "redo"}, started: 9}}
		}, doubt: "cannot be looked into"},
		{name: "a child of a tofu of an unknown state", rows: func(string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"redo"}, cwd: "/", env: []string{"_=/opt/tofu"}, started: 9}}
		}, doubt: "of which state cannot be told"},

		{name: "an editor", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 90, argv: []string{"vim", "main.tf"}, cwd: dir, started: 9}}
		}},
		{name: "a shell", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 80, argv: []string{"-bash"}, cwd: dir, started: 9}}
		}},
		{name: "a multiplexer that was started there", rows: func(dir string) []row {
			return []row{
				{pid: 500, ppid: 1, argv: []string{"tmux: server", "new"}, cwd: dir, env: []string{"PWD=" + dir}, started: 9},
				{pid: 501, ppid: 500, argv: []string{"-bash"}, cwd: dir, started: 9},
				{pid: 502, ppid: 501, argv: []string{"kubectl", "get", "pods", "-w"}, cwd: dir, started: 9},
			}
		}, sits: 1},
		{name: "an agent of a login", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"ssh-agent"}, cwd: dir, started: 9}}
		}, sits: 1},
		{name: "the file monitor of git", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"git", "fsmonitor--daemon", "run", "--detach"}, cwd: dir}}
		}, sits: 1},
		{name: "a shell from outside of the container", rows: func(dir string) []row {
			return []row{{pid: 500, argv: []string{"bash", "-c", "watch ls"}, cwd: dir, started: 9}}
		}},
		{name: "a daemon beside the directory", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"node", "server.js"}, cwd: filepath.Dir(dir), started: -99}}
		}},
		{name: "what a closed terminal left beside the directory", timing: true, rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"node", "server.js"}, cwd: filepath.Dir(dir), started: -99}}
		}, sits: 1},
		{name: "a service", rows: func(string) []row {
			return []row{{pid: 500, ppid: 1, argv: []string{"nginx"}, cwd: "/", started: 9}}
		}},
		{name: "a child of another user from before", rows: func(string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"cupsd"}, started: -99}}
		}},
		{name: "a child of a run of another state", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: filepath.Join(dir, "..", "..", "other"), started: 9}}
		}},
		{name: "a child of a run of another state, in the same work tree", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: filepath.Join(filepath.Dir(dir), "beside"), env: []string{"TF_IN_AUTOMATION=1"}, started: 9}}
		}},
		{name: "a child of a run of another state, below the directory", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: filepath.Join(dir, "nested"), started: 9}}
		}},
		{name: "a child that a provisioner sent into the root module of another", rows: func(dir string) []row {
			return []row{{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: filepath.Join(dir, "nested"), env: []string{"PWD=" + dir}, started: 9}}
		}, kids: 1},
		{name: "what a run of another state left in the root", rows: func(dir string) []row {
			return []row{
				{pid: 500, ppid: 1, group: 400, argv: []string{"redo"}, cwd: "/", env: []string{"TF_VAR_x=1"}, started: 9},
				{pid: 501, ppid: 1, group: 400, argv: []string{"redo"}, cwd: filepath.Join(dir, "..", "..", "other"), started: 9},
			}
		}},
		{name: "a tofu that starts a child", rows: func(dir string) []row {
			return []row{
				{pid: 400, ppid: 90, argv: []string{"tofu", "apply"}, cwd: dir, started: -9},
				{pid: 500, ppid: 400, group: 400, argv: []string{"tofu", "apply"}, cwd: dir, started: 9},
			}
		}, hold: 1},
		{name: "a tofu that another one started elsewhere", rows: func(dir string) []row {
			return []row{
				{pid: 400, ppid: 90, argv: []string{"tofu", "apply"}, cwd: dir, started: -9},
				{pid: 500, ppid: 400, group: 400, argv: []string{"tofu", "apply"}, cwd: filepath.Join(dir, "scripts"), started: 9},
			}
		}, hold: 2},
		{name: "a child of a run that lives on another state", rows: func(dir string) []row {
			other := filepath.Join(dir, "..", "..", "other")
			return []row{
				{pid: 400, ppid: 90, argv: []string{"tofu", "apply"}, cwd: other, started: 9},
				{pid: 500, ppid: 400, group: 400, argv: []string{"redo"}, cwd: dir, started: 9},
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			top := resolved(t.TempDir())
			dir := filepath.Join(top, "project", "live")
			for at, suffix := range map[string]string{dir: "one", filepath.Join(top, "clone", "live"): "one", filepath.Join(top, "other"): "two",
				filepath.Join(top, "project", "beside"): "three", filepath.Join(dir, "nested"): "four"} {
				backendFile(t, at, suffix)
			}
			for _, more := range []string{filepath.Join(dir, "scripts"), filepath.Join(top, "clone", "live", "scripts"), filepath.Join(top, "bare")} {
				if err := os.MkdirAll(more, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			env := steps.Env{Dir: dir, User: "u", Host: "here", Proc: newFakeProc(t, tc.rows(dir)...), Now: time.Now}
			w, err := module.Read(env, dir)
			if err != nil {
				t.Fatal(err)
			}
			s := Suspect{Who: "u@here", Created: takenAt}
			if tc.timing {
				s = Suspect{}
			}
			r, err := Look(env, w, s)
			if err != nil {
				t.Fatal(err)
			}
			if tc.doubt == "" && r.Blind != "" || !strings.Contains(r.Blind, tc.doubt) {
				t.Errorf("blind = %q, want %q", r.Blind, tc.doubt)
			}
			if len(r.Children) != tc.kids || len(r.Plugins) != tc.plug || len(r.Holders)+len(r.Later) != tc.hold || len(r.Sitting) != tc.sits {
				t.Errorf("scan = %d children, %d plugins, %d tofus, %d sitting, want %d %d %d %d: %v", len(r.Children), len(r.Plugins), len(r.Holders)+len(r.Later), len(r.Sitting), tc.kids, tc.plug, tc.hold, tc.sits, r.findings())
			}
		})
	}
}

// TestBelongingSaysWhy names what lives, since when, and what to do.
func TestBelongingSaysWhy(t *testing.T) {
	t.Parallel()
	dir := resolved(t.TempDir())
	backendFile(t, dir, "one")
	env := steps.Env{Dir: dir, User: "u", Host: "here", Now: time.Now, Proc: newFakeProc(t, row{pid: 500, ppid: 1, group: 400, argv: []string{"sh", "-c", "redo"}, cwd: dir, started: 9})}
	w, err := module.Read(env, dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Look(env, w, Suspect{Who: "u@here", Created: takenAt})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Children) != 1 || r.Children[0].PID != 500 {
		t.Fatalf("children = %v, want one", r.Children)
	}
	said := r.Children[0].Described()
	for _, part := range []string{"sh -c redo", "since " + takenAt.Add(9*time.Second).UTC().Format(time.RFC3339), "it works in " + dir, "the process 400 that led its group is gone"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q does not say %q", said, part)
		}
	}
	if cure := HowToEnd(r.Children[0]); !strings.Contains(cure, "kill 500") {
		t.Errorf("cure = %q", cure)
	}
	if alive, why := r.Verdict("u@here"); alive != "" || !strings.Contains(why, "500") {
		t.Errorf("verdict() = %q, %q, want unknown for 500", alive, why)
	}
}
