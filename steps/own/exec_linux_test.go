package own

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// guest is an operator who trusts the runbook and one directory.
func guest(t *testing.T) steps.Env {
	t.Helper()
	dir := realPath(t.TempDir())
	home := filepath.Join(dir, "home")
	for _, sub := range []string{home, filepath.Join(dir, "module"), filepath.Join(dir, "private")} {
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	inside := func(of string) error {
		if of != filepath.Join(dir, "module") {
			return errors.New("look at it first")
		}
		return nil
	}
	return steps.Env{
		Dir: filepath.Join(dir, "module"), Home: home, Private: filepath.Join(dir, "private"), Runbook: "d1",
		Environ:        []string{"PATH=/usr/bin:/bin", "HOME=" + home, "LANG=C", "CLOUD_TOKEN=tok-4f8a0e7751bd", "PLAIN=1"},
		TrustedRunbook: func(digest string) error { return nil }, Trusted: inside, Known: inside,
	}
}

// needsConfinement fails where the kernel of this machine cannot do what is tested: a
// test that is left out proves nothing.
func needsConfinement(t *testing.T) {
	t.Helper()
	if s := kernel(); !s.whole() {
		t.Fatalf("this machine cannot keep a program from writing, so the tests of it fail: %s", s.why)
	}
}

func script(text string) steps.Value { return steps.StringsOf([]string{"sh", "-c", text}) }

// runs runs own/exec as a step would, and holds it to its contract.
func runs(t *testing.T, env steps.Env, in steps.Params, outs ...steps.Output) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	sink := stepstest.NewSink()
	for _, f := range Kinds()[0].Params {
		if _, given := in[f.Name]; !given && f.Default != "" {
			v, err := steps.ParseValue(f.Type, f.Default)
			if err != nil {
				t.Fatal(err)
			}
			in[f.Name] = v
		}
	}
	obs, err := stepstest.Observe(t.Context(), execProbe{env, outs, kernel}, fieldsOf("own/exec", outs), in, sink)
	return obs, sink, err
}

// TestWritesNowhere: the kernel refuses each way to change something that a program has,
// and lets it write into its private directory, which is gone afterwards.
func TestWritesNowhere(t *testing.T) {
	t.Parallel()
	needsConfinement(t)
	env := guest(t)
	victim := filepath.Join(env.Dir, "state.json")
	if err := os.WriteFile(victim, []byte("whole"), 0o644); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(filepath.Dir(env.Dir), "open") // as /tmp is, for everyone
	if err := os.Mkdir(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"append":             "echo x >> " + victim,
		"empty":              "true > " + victim,
		"truncate":           "truncate -s 0 " + victim,
		"remove":             "rm " + victim,
		"rename":             "mv " + victim + " " + open + "/x",
		"link":               "ln " + victim + " " + open + "/x",
		"link out":           "ln " + victim + " $TMPDIR/x",
		"symbolic link":      "ln -s " + victim + " " + open + "/x",
		"make":               "touch " + open + "/x",
		"make a directory":   "mkdir " + open + "/x",
		"mode":               "chmod 777 " + victim,
		"owner":              "chown 1:1 " + victim,
		"times":              "touch -d 2001-01-01 " + victim,
		"through a link":     "ln -s " + victim + " $TMPDIR/l && echo x > $TMPDIR/l",
		"memory of another":  "echo x > /proc/$PPID/mem",
		"a setting":          "echo x > /proc/self/oom_score_adj",
		"a value of kernel":  "cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname",
		"another's signal":   "kill -0 " + strconv.Itoa(os.Getpid()),
		"another's nice":     "renice -n 5 -p " + strconv.Itoa(os.Getpid()),
		"environment":        "cat /proc/" + strconv.Itoa(os.Getpid()) + "/environ",
		"its own privileges": "unshare -m true",
		"the terminal":       "echo x > /dev/tty",
	} {
		t.Run(name, func(t *testing.T) {
			may := name == "another's signal" && !kernel().signals // which not every kernel keeps it from
			obs, _, err := runs(t, env, steps.Params{"argv": script("if { " + text + "; } 2>&1; then echo did; else echo refused; fi"), "dir": steps.PathOf(env.Dir)},
				steps.Output{Field: steps.Field{Name: "did", Type: steps.Bool}, Regexp: "did"})
			if err != nil || obs.Facts["did"].Bool() != may || !obs.Facts["did"].Known() || !obs.Facts["sandboxed"].Bool() {
				t.Errorf("%s: did %v, sandbox %q, %v", text, obs.Facts["did"].Text(), obs.Facts["sandbox"].Text(), err)
			}
			got, err := os.ReadFile(victim)
			info, serr := os.Stat(victim)
			if err != nil || serr != nil || string(got) != "whole" || info.Mode().Perm() != 0o644 || time.Since(info.ModTime()) > time.Hour {
				t.Fatalf("the file is %q, %v, %v", got, info, err)
			}
			if left, err := os.ReadDir(open); err != nil || len(left) > 0 {
				t.Fatalf("it made %v, %v", left, err)
			}
		})
	}
	obs, _, err := runs(t, env, steps.Params{"argv": script("echo mine > $TMPDIR/x && mkdir $HOME/d && cat $TMPDIR/x > /dev/null && cat $TMPDIR/x && chmod 0 $HOME/d; pwd")})
	if err != nil || !strings.Contains(obs.Summary, "ended with 0") {
		t.Fatalf("its private directory: %+v, %v", obs, err)
	}
	if left, err := os.ReadDir(env.Private); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHomeIsHidden: what is in the home of the operator is read only where the step names
// HOME.
func TestHomeIsHidden(t *testing.T) {
	t.Parallel()
	needsConfinement(t)
	env := guest(t)
	if err := os.WriteFile(filepath.Join(env.Home, "credentials"), []byte("aws"), 0o600); err != nil {
		t.Fatal(err)
	}
	cat := steps.StringsOf([]string{"cat", filepath.Join(env.Home, "credentials")})
	if _, _, err := runs(t, env, steps.Params{"argv": cat}); err == nil || !strings.Contains(err.Error(), "env: [HOME] lets it") {
		t.Errorf("it reads the home: %v", err)
	}
	_, sink, err := runs(t, env, steps.Params{"argv": cat, "env": steps.StringsOf([]string{"HOME"})})
	if err != nil || sink.Artifacts["stdout"].String() != "aws" {
		t.Errorf("with HOME: %v, %v", sink.Artifacts, err)
	}
}

// TestEnvironmentIsMadeFromScratch: no variable of the operator but those that are named,
// and a secret one is told to the sink before the program begins.
func TestEnvironmentIsMadeFromScratch(t *testing.T) {
	t.Parallel()
	env := guest(t)
	_, sink, err := runs(t, env, steps.Params{"argv": steps.StringsOf([]string{"env"})})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(sink.Artifacts["stdout"].String()) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"HOME", "LANG", "PATH", "TMPDIR"}; !slices.Equal(names, want) || len(sink.Secrets) > 0 {
		t.Errorf("the program got %v, want %v; secrets %v", names, want, sink.Secrets)
	}
	_, sink, err = runs(t, env, steps.Params{"argv": steps.StringsOf([]string{"printenv", "CLOUD_TOKEN"}), "env": steps.StringsOf([]string{"CLOUD_TOKEN"})})
	if err != nil || strings.TrimSpace(sink.Artifacts["stdout"].String()) != "tok-4f8a0e7751bd" || !slices.Equal(sink.Secrets, []string{"tok-4f8a0e7751bd"}) {
		t.Errorf("named: %v, secrets %v, %v", sink.Artifacts, sink.Secrets, err)
	}
	if _, _, err := runs(t, env, steps.Params{"argv": steps.StringsOf([]string{"env"}), "env": steps.StringsOf([]string{"NOT_SET"})}); err == nil || !strings.Contains(err.Error(), "NOT_SET") {
		t.Errorf("a variable that is not set: %v", err)
	}
}

// TestWordsReachTheProgramAsTheyAre: no shell reads them.
func TestWordsReachTheProgramAsTheyAre(t *testing.T) {
	t.Parallel()
	env := guest(t)
	argv := []string{"printf", `[%s]`, "$(touch x)", "a b", "`id`", "*", "; rm -rf /", "", "\n", "$HOME", `"`, `'`, "--help"}
	_, sink, err := runs(t, env, steps.Params{"argv": steps.StringsOf(argv)})
	if want := "[" + strings.Join(argv[2:], "][") + "]"; err != nil || sink.Artifacts["stdout"].String() != want {
		t.Errorf("printed %q, want %q, %v", sink.Artifacts["stdout"], want, err)
	}
}

// TestDeadlineEndsTheWholeGroup: the child of a program is gone too when its time is over.
func TestDeadlineEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	env := guest(t)
	for name, text := range map[string]string{
		"while both run":           "sleep 1000 & echo $!; wait",
		"the program ended before": "sleep 1000 & echo $!",
		"in a group of its own":    "set -m; sleep 1000 & echo $!",
		"in a session of its own":  "mkfifo $TMPDIR/f; setsid -f sh -c 'echo $$ > $TMPDIR/f; exec sleep 1000'; cat $TMPDIR/f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, sink, err := runs(t, env, steps.Params{"argv": script(text), "timeout": steps.DurationOf(500 * time.Millisecond)})
			if late := strings.HasPrefix(name, "while"); late != errors.Is(err, context.DeadlineExceeded) || late != strings.Contains(fmt.Sprint(err), "killed with all that it started") {
				t.Fatal(err)
			}
			child := strings.TrimSpace(sink.Artifacts["stdout"].String())
			if child == "" {
				t.Fatal("the child did not say its number")
			}
			awaitGone(t, child)
		})
	}
}

// TestParentDeath: a program does not outlive handrail. The test starts itself as the parent.
func TestParentDeath(t *testing.T) {
	const asParent = "HANDRAIL_TEST_PARENT"
	if os.Getenv(asParent) != "" {
		sink := &telling{Sink: stepstest.NewSink(), any: func(line string) { fmt.Println("child " + line) }}
		_, err := execProbe{guest(t), nil, kernel}.Probe(t.Context(), steps.Params{"argv": script("echo $$; exec sleep 1000"), "timeout": steps.DurationOf(time.Minute)}, sink)
		t.Fatal("the parent went on: ", err)
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestParentDeath$")
	cmd.Env = append(os.Environ(), asParent+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	child := ""
	for child == "" && lines.Scan() {
		if pid, ok := strings.CutPrefix(lines.Text(), "child "); ok && pid != "" {
			if _, err := strconv.Atoi(pid); err == nil {
				child = pid
			}
		}
	}
	if err := cmd.Process.Kill(); err != nil || child == "" {
		t.Fatalf("the child is %q, %v", child, err)
	}
	_ = cmd.Wait() // it was killed
	awaitGone(t, child)
}

// awaitGone waits until a process that is no child of the test has ended.
func awaitGone(t *testing.T, process string) {
	t.Helper()
	pid, err := strconv.Atoi(process)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// TestCancelEndsIt: a reading that is given up ends what it began.
func TestCancelEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	sink := &telling{Sink: stepstest.NewSink(), on: "ready", do: cancel}
	_, err := execProbe{guest(t), nil, kernel}.Probe(ctx, steps.Params{"argv": script("echo ready; exec sleep 1000"), "timeout": steps.DurationOf(time.Minute)}, sink)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// telling does something when a line is told.
type telling struct {
	*stepstest.Sink
	on  string
	do  func()
	any func(line string)
}

// Line implements steps.Sink.
func (s *telling) Line(text string) {
	switch {
	case s.any != nil:
		s.any(text)
	case text == s.on:
		s.do()
	}
}

// TestFloodIsCutOff: a program that prints without end is killed, and nothing is read of
// the half.
func TestFloodIsCutOff(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"yes 'depth 5'", "yes >&2", "printf 'depth 5'; cat /dev/zero"} {
		obs, sink, err := runs(t, guest(t), steps.Params{"argv": script(text)}, steps.Output{Field: steps.Field{Name: "depth", Type: steps.Int}, Regexp: "depth ([0-9]+)"})
		if !errors.Is(err, errTooMuch) || obs.Facts["depth"].Known() {
			t.Errorf("%s: %+v, %v", text, obs.Facts, err)
		}
		for role, b := range sink.Artifacts {
			if b.Len() > mostPrinted {
				t.Errorf("%s: %d bytes of %s", text, b.Len(), role)
			}
		}
	}
}

// TestNetworkNone: a program that is kept off the network reaches nothing, this machine
// neither; the sockets of other programs are closed to each.
func TestNetworkNone(t *testing.T) {
	t.Parallel()
	needsConfinement(t)
	env := guest(t)
	const try = `import socket,sys
for kind, family, to in (("tcp", socket.AF_INET, ("127.0.0.1", 9)), ("udp", socket.AF_INET, ("127.0.0.1", 9)), ("unix", socket.AF_UNIX, "/run/none")):
    try:
        s = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
        print(kind, "opened")
    except OSError as e:
        print(kind, "refused", e.errno)
`
	for network, want := range map[string]string{"none": "tcp refused 1\nudp refused 1\nunix refused 1\n", "open": "tcp opened\nudp opened\nunix refused 1\n"} {
		_, sink, err := runs(t, env, steps.Params{"argv": steps.StringsOf([]string{"python3", "-c", try}), "network": steps.EnumOf(network)})
		if err != nil || sink.Artifacts["stdout"].String() != want {
			t.Errorf("network %s: %v, %v", network, sink.Artifacts, err)
		}
	}
}

// TestHandrailStaysFree: what confines a program confines no thread of handrail's own.
func TestHandrailStaysFree(t *testing.T) {
	t.Parallel()
	env := guest(t)
	for range 20 {
		if _, _, err := runs(t, env, steps.Params{"argv": steps.StringsOf([]string{"true"})}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatalf("handrail itself cannot write any more: %v", err)
		}
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatalf("handrail itself cannot change a mode any more: %v", err)
		}
	}
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(threads) == 0 {
		t.Fatal(threads, err)
	}
}

// TestWhatStartsIsTrusted: who may start what, and where.
func TestWhatStartsIsTrusted(t *testing.T) {
	t.Parallel()
	env := guest(t)
	write := func(name, text string, mode os.FileMode) {
		name = filepath.Join(env.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("check.sh", "#!/bin/sh\necho fine\n", 0o700)
	write("plain.sh", "#!/bin/sh\necho fine\n", 0o600)
	write(".git/hooks/check", "#!/bin/sh\necho fine\n", 0o700)
	if err := os.Symlink("/bin/true", filepath.Join(env.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	distrust := env
	distrust.TrustedRunbook = func(string) error { return errors.New("not looked at") }
	untrusting, bundle, only := env, env, env
	untrusting.TrustedRunbook, bundle.Runbook, only.ReadOnly = nil, "", "--readonly"
	at := steps.PathOf(env.Dir)
	for _, tc := range []struct {
		name string
		env  steps.Env
		argv string
		dir  steps.Value
		want string // "" for a success
	}{
		{"program of the directory", env, "./check.sh", at, ""},
		{"absolute", env, "/bin/true", at, ""},
		{"read-only, and kept from writing", only, "true", at, ""},
		{"runbook that is not trusted", distrust, "true", at, "not looked at"},
		{"nothing tells of trust", untrusting, "true", at, "nothing says that a person trusts"},
		{"no runbook", bundle, "true", at, "nothing says that a person trusts"},
		{"directory that is not trusted", env, "true", steps.PathOf("/"), "look at it first"},
		{"relative, without a directory", env, "./check.sh", steps.Value{}, "needs dir"},
		{"not executable", env, "./plain.sh", at, "not an executable file"},
		{"what trust does not count", env, ".git/hooks/check", at, "leads out of what was trusted"},
		{"link that leads out", env, "./out", at, "leads out of what was trusted"},
		{"way out", env, "../../../../../../../../bin/true", at, "leads out of what was trusted"},
		{"no such program", env, "no-such-program", at, "in PATH"},
	} {
		in := steps.Params{"argv": steps.StringsOf([]string{tc.argv})}
		if tc.dir.Known() {
			in["dir"] = tc.dir
		}
		_, _, err := runs(t, tc.env, in)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	path := env
	path.Environ = []string{"PATH=" + "." + string(os.PathListSeparator) + "bin"}
	if _, _, err := runs(t, path, steps.Params{"argv": steps.StringsOf([]string{"check.sh"}), "dir": at}); err == nil {
		t.Error("a program of a relative entry of PATH was started")
	}
}

// TestWithoutASandbox: it says so, and a read-only incident starts nothing.
func TestWithoutASandbox(t *testing.T) {
	t.Parallel()
	env := guest(t)
	bare := func() sandbox { return sandbox{why: "this kernel has no Landlock"} }
	read := func(env steps.Env, network string) (steps.Observation, error) {
		in := steps.Params{"argv": steps.StringsOf([]string{"true"}), "network": steps.EnumOf(network), "timeout": steps.DurationOf(time.Minute)}
		return stepstest.Observe(t.Context(), execProbe{env, nil, bare}, fieldsOf("own/exec", nil), in, stepstest.NewSink())
	}
	obs, err := read(env, "open")
	if err != nil || obs.Facts["sandboxed"].Bool() || obs.Facts["sandbox"].Text() != "none: this kernel has no Landlock" || len(obs.Findings) != 1 {
		t.Errorf("without: %+v, %v", obs, err)
	}
	if words := bare().forTrust(); !strings.Contains(words, "nothing on this machine but your trust") {
		t.Errorf("for trust: %q", words)
	}
	if _, err := read(env, "none"); err == nil || !strings.Contains(err.Error(), "network: none cannot be held here") {
		t.Errorf("network: none: %v", err)
	}
	env.ReadOnly = "--readonly"
	if _, err := read(env, "open"); !errors.Is(err, errNeedsSandbox) {
		t.Errorf("read-only: %v", err)
	}
}

// TestExits: the codes that are a success are the runbook's to say.
func TestExits(t *testing.T) {
	t.Parallel()
	env := guest(t)
	for _, tc := range []struct {
		text  string
		exits []string
		want  int64
		says  string
	}{
		{"exit 0", nil, 0, ""},
		{"echo no queue >&2; exit 3", nil, 0, "ended with 3, and the runbook takes 0 as a success: no queue"},
		{"exit 2", []string{"0", "2"}, 2, ""},
		{"exit 0", []string{"2"}, 0, "ended with 0, and the runbook takes 2 as a success"},
		{"kill -9 $$", nil, 0, "ended by a signal"},
	} {
		in := steps.Params{"argv": script(tc.text)}
		if tc.exits != nil {
			in["exits"] = steps.StringsOf(tc.exits)
		}
		obs, _, err := runs(t, env, in)
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) || err == nil && obs.Facts["exit"].Int() != tc.want {
			t.Errorf("%s: %+v, %v", tc.text, obs.Facts, err)
		}
	}
}

// TestFirstThreadIsNotConfined: it lives as long as handrail, and is what a signal to handrail is judged by.
func TestFirstThreadIsNotConfined(t *testing.T) {
	t.Parallel()
	for range 200 {
		var threads [8]int
		var wait sync.WaitGroup
		hold := make(chan struct{})
		for i := range threads {
			wait.Add(1)
			onThreadOfItsOwn(func(err error) { t.Error(err) }, func() {
				threads[i] = unix.Gettid()
				wait.Done()
				<-hold
			})
		}
		wait.Wait()
		close(hold)
		for i, tid := range threads {
			if tid == os.Getpid() || slices.Contains(threads[:i], tid) {
				t.Fatalf("threads %v of process %d", threads, os.Getpid())
			}
		}
	}
}
