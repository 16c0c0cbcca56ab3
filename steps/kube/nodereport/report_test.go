package nodereport

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// run runs the script on this machine, as an operator does over ssh.
func run(t *testing.T, script string) Report {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-s")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	reports, err := Parse("root@node:~# sh\r\n" + string(out) + "root@node:~# \n")
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return reports[0]
}

// TestRealNode runs the script here, with a process that passes itself off as a
// thread of the kernel.
func TestRealNode(t *testing.T) {
	t.Parallel()
	mask := exec.CommandContext(t.Context(), "sleep", "600")
	mask.Args[0] = "[kworker/u8:2]"
	if err := mask.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mask.Process.Kill(); _ = mask.Wait() })
	r := run(t, Script)
	if r.Node == "" || time.Since(r.At).Abs() > time.Hour {
		t.Errorf("node %q at %s", r.Node, r.At)
	}
	for _, why := range r.Unread {
		if strings.Contains(why, "did not get through") || strings.Contains(why, "on the way") || strings.Contains(why, "does not belong to a report") {
			t.Errorf("unread: %s", why)
		}
	}
	pid := fmt.Sprintf("pid %d ", mask.Process.Pid)
	i := slices.IndexFunc(r.Items[Spoofed], func(it Item) bool { return strings.Contains(it.Detail, pid) })
	if i < 0 || !strings.HasPrefix(r.Items[Spoofed][i].Name, "[kworker/u8:2]") || r.Items[Spoofed][i].Hash == "" {
		t.Errorf("spoofed = %v, want the process %d", r.Items[Spoofed], mask.Process.Pid)
	}
	for _, it := range r.Items[Spoofed] {
		if strings.Contains(it.Detail, "parent 2 exe  ") {
			t.Errorf("a thread of the kernel is taken for a mask: %+v", it)
		}
	}
}

// TestSystemd runs the script on a machine whose systemd is a program of ours.
func TestSystemd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("booted/x", "")
	write("units/k8s-health-monitor.timer", "[Timer]\nOnCalendar=*:0/2\n")
	write("units/k8s-health-monitor.service", "[Service]\nExecStart=/opt/.cache/reconcile --kubeconfig /etc/k.conf\n")
	write("bin/systemctl", `#!/bin/sh
case "$*" in
*--type=timer*) echo 'k8s-health-monitor.timer loaded active waiting Health | x' ;;
*--type=service*) printf '%s\n' '* respawn.service loaded failed failed y' 'ssh.service loaded active running z' ;;
*FragmentPath*k8s-health-monitor.timer) echo DIR/units/k8s-health-monitor.timer ;;
*FragmentPath*k8s-health-monitor.service) echo DIR/units/k8s-health-monitor.service ;;
*FragmentPath*respawn.service) echo /etc/systemd/system/respawn.service ;;
*FragmentPath*ssh.service) echo /usr/lib/systemd/system/ssh.service ;;
*'-p Unit '*) echo k8s-health-monitor.service ;;
*ExecStart*k8s-health-monitor.service) echo '{ path=/opt/.cache/reconcile ; argv[]=/opt/.cache/reconcile --kubeconfig /etc/k.conf ; ignore_errors=no ; start_time=[n/a] }' ;;
*ActiveState*) echo active ;;
esac
`)
	script := strings.NewReplacer("/run/systemd/system", dir+"/booted", "PATH=/usr/local/sbin", "PATH="+dir+"/bin:/usr/local/sbin").Replace(Script)
	first := run(t, script)
	if len(first.Items[Timers]) == 0 || first.Items[Timers][0].Name != "timer k8s-health-monitor.timer" || !strings.Contains(first.Items[Timers][0].Detail, "/opt/.cache/reconcile --kubeconfig") || first.Items[Timers][0].Hash == "" {
		t.Fatalf("timers = %+v", first.Items[Timers])
	}
	names := []string{}
	for _, it := range first.Items[Supervised] {
		if strings.HasPrefix(it.Name, "service ") {
			names = append(names, it.Name)
		}
	}
	if !slices.Equal(names, []string{"service respawn.service"}) {
		t.Errorf("services = %q, want the one that no package brought", names)
	}
	// What the unit runs is another thing once its file says so.
	write("units/k8s-health-monitor.service", "[Service]\nExecStart=/opt/other\n")
	if again := run(t, script); again.Items[Timers][0].Hash == first.Items[Timers][0].Hash {
		t.Error("a changed service has the hash of the old one")
	}
}

// TestScriptOnlyReads: no line of the script writes to anything but /dev/null and
// its own output, and every program that it starts is one that reads.
func TestScriptOnlyReads(t *testing.T) {
	t.Parallel()
	redirect := regexp.MustCompile(`>+\s*[^\s)&|;]+|>&\d?`)
	harmless := []string{">/dev/null", ">&1"}
	forbidden := regexp.MustCompile(`(?:^|[|;&({]\s*|\bthen\s+|\bdo\s+|\$\()\s*(rm|mv|cp|dd|tee|touch|mkdir|rmdir|ln|chmod|chown|chattr|mount|umount|kill|pkill|killall|sed -i|truncate|install|mktemp|eval|exec|source|curl|wget|nc|ssh|kubectl|crontab)\b`)
	verbs := regexp.MustCompile(`[^ve] systemctl (\S+)`)
	lines := bufio.NewScanner(strings.NewReader(Script))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if code := strings.TrimSpace(line); strings.HasPrefix(code, "#") || code == "" {
			continue
		}
		bare := regexp.MustCompile(`'[^']*'`).ReplaceAllString(line, "''")
		for _, r := range redirect.FindAllString(bare, -1) {
			if !slices.Contains(harmless, strings.ReplaceAll(r, " ", "")) {
				t.Errorf("line %d writes: %s (%q)", n, line, r)
			}
		}
		if m := forbidden.FindStringSubmatch(bare); m != nil {
			t.Errorf("line %d runs %s: %s", n, m[1], line)
		}
		for _, m := range verbs.FindAllStringSubmatch(bare, -1) {
			if !slices.Contains([]string{"show", "list-units"}, m[1]) {
				t.Errorf("line %d asks systemctl to %s", n, m[1])
			}
		}
	}
}

func sound(t testing.TB, body string) string {
	t.Helper()
	return body + fmt.Sprintf("end|%d|%d\n", strings.Count(body, "\n"), cksum(body))
}

const whole = header + "\nnode|worker-1\nat|2026-11-22T06:06:51Z\nuser|0\n" +
	"item|timers|timer a.timer|active|0123456789abcdef\ndone|timers\ndone|cron\ndone|processes\ndone|spoofed\ndone|immutable\ndone|supervised\ndone|static_pods\ndone|containers\n"

func TestParse(t *testing.T) {
	t.Parallel()
	swap := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	for _, tc := range []struct{ name, text, unread string }{
		{"whole", sound(t, whole), ""},
		{"pasted with a prompt", "node$ sudo sh\r\n" + strings.ReplaceAll(sound(t, whole), "\n", "\r\n") + "node$", ""},
		{"cut", whole, "its end is missing"},
		{"a line lost", strings.Replace(sound(t, whole), "item|timers|timer a.timer|active|0123456789abcdef\n", "", 1), "on the way"},
		{"a line changed", strings.Replace(sound(t, whole), "a.timer", "b.timer", 1), "on the way"},
		{"a section missing", sound(t, swap("done|cron\n", "")), "cron: the script did not get through"},
		{"not root", sound(t, swap("user|0", "user|1000")), "not made by root"},
		{"no time", sound(t, swap("at|2026", "at|yesterday 2026")), "when it was made"},
		{"no node", sound(t, swap("node|worker-1\n", "")), "which node"},
		{"two nodes", sound(t, swap("node|worker-1\n", "node|worker-1\nnode|worker-2\n")), "does not belong to a report"},
		{"something unread", sound(t, swap("done|cron\n", "unread|cron|/var/spool/cron cannot be listed\ndone|cron\n")), "cron: /var/spool/cron cannot be listed"},
		{"an unknown section", sound(t, swap("item|timers", "item|timetables")), "does not belong to a report"},
		{"a field too many", sound(t, swap("|active|", "|act|ive|")), "does not belong to a report"},
	} {
		reports, err := Parse(tc.text)
		if err != nil || len(reports) != 1 {
			t.Errorf("%s: %d reports, %v", tc.name, len(reports), err)
			continue
		}
		got := strings.Join(reports[0].Unread, "; ")
		if !strings.Contains(got, tc.unread) || (tc.unread == "") != (got == "") {
			t.Errorf("%s: unread %q, want %q", tc.name, got, tc.unread)
		}
	}
	two, err := Parse(sound(t, whole) + sound(t, strings.ReplaceAll(whole, "worker-1", "worker-2")))
	if err != nil || len(two) != 2 || two[0].Node != "worker-1" || two[1].Node != "worker-2" || !two[0].Complete() || !two[1].Complete() {
		t.Errorf("two reports in one file: %+v, %v", two, err)
	}
	if _, err := Parse("nothing\n"); err == nil {
		t.Error("a text without a report is one")
	}
}

// TestCksum holds ours against that of the machine.
func TestCksum(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "handrail\n", strings.Repeat("0123456789", 1000)} {
		cmd := exec.CommandContext(t.Context(), "cksum")
		cmd.Stdin = strings.NewReader(s)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(cksum(s)); strings.Fields(string(out))[0] != want {
			t.Errorf("cksum of %d bytes = %s, want %s", len(s), want, out)
		}
	}
}

// FuzzParse: no text of a stranger is complete without its end, and none of it
// reaches a screen with anything but printable signs.
func FuzzParse(f *testing.F) {
	f.Add(sound(f, whole))
	f.Add(whole)
	f.Add(header + "\nitem|spoofed|\x1b[2J|x|y\nend|1|1")
	f.Fuzz(func(t *testing.T, text string) {
		reports, err := Parse(text)
		if err != nil {
			return
		}
		for _, r := range reports {
			if r.Complete() && (r.Node == "" || r.At.IsZero() || !strings.Contains(text, "end|")) {
				t.Errorf("%q is complete: %+v", text, r)
			}
			for _, items := range r.Items {
				for _, it := range items {
					if it.Name != clean(it.Name) || it.Detail != clean(it.Detail) {
						t.Errorf("%q keeps %+v", text, it)
					}
				}
			}
			for _, why := range r.Unread {
				if strings.ContainsAny(why, "\x1b\n\r\x00") {
					t.Errorf("%q: unread %q", text, why)
				}
			}
		}
	})
}
