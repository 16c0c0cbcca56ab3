package kube

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// benchPeak is the peak of resident memory, in kB, of a process that reads once.
func benchPeak(b *testing.B, way string, p listPlace) int64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkList$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), benchWay+"="+way, benchKubeconfig+"="+p.kubeconfig, benchNamespace+"="+p.namespace)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", way, err, out)
	}
	_, rest, _ := strings.Cut(string(out), peakMark)
	word, _, _ := strings.Cut(rest, "\n")
	kB, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
	if err != nil {
		b.Fatalf("%s: no peak in %q", way, out)
	}
	return kB
}

const peakMark = "peak-kB:"

func benchChild(b *testing.B, name string) {
	p := listPlace{kubeconfig: os.Getenv(benchKubeconfig), namespace: os.Getenv(benchNamespace)}
	if name == idleWay {
		c, err := cluster.Connect(steps.Env{Now: time.Now, Kubeconfig: p.kubeconfig}, steps.SecretsOnly(nil))
		if err == nil {
			_, err = c.Find(b.Context(), "cm")
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, way := range listWays {
		if way.name != name {
			continue
		}
		if err := way.read(b.Context(), b, p); err != nil {
			b.Fatal(err)
		}
	}
	kB, err := peakOf(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s%d\n", peakMark, kB)
}

// peakOf is what the kernel keeps of a living process. The peak that wait4 tells
// would not do: it counts the parent's memory at the fork.
func peakOf(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(raw), "VmHWM:")
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0, fmt.Errorf("no VmHWM of process %d", pid)
	}
	return strconv.ParseInt(fields[0], 10, 64)
}

// benchKubectl runs kubectl once, whole process, its output dropped.
func benchKubectl(b *testing.B, kubectl string, p listPlace, args []string) (took time.Duration, peak int64) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), kubectl, append([]string{"--kubeconfig", p.kubeconfig}, args...)...)
	cmd.Env = []string{"HOME=" + b.TempDir()}
	var lines lineCounter
	cmd.Stdout, cmd.Stderr = &lines, os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if took = time.Since(began); err != nil || lines < benchObjects {
				b.Fatalf("kubectl %s: %d lines, %v", strings.Join(args, " "), lines, err)
			}
			return took, peak
		case <-tick.C:
			if kB, err := peakOf(cmd.Process.Pid); err == nil {
				peak = kB
			}
		}
	}
}

type lineCounter int

func (l *lineCounter) Write(p []byte) (int, error) {
	*l += lineCounter(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// findKubectl is the one on PATH, or one built from the modules of the lab, in a
// directory of the benchmark's own.
func findKubectl(b *testing.B) (string, error) {
	b.Helper()
	if path, err := exec.LookPath("kubectl"); err == nil {
		return path, nil
	}
	dir := b.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "lab", name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return "", err
		}
	}
	path := filepath.Join(dir, "kubectl")
	ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute)
	defer cancel()
	// The lab's own go.mod stays as it is: kubectl needs modules that the lab does not.
	cmd := exec.CommandContext(ctx, "go", "build", "-modfile="+filepath.Join(dir, "go.mod"), "-mod=mod", "-o", path, "k8s.io/kubernetes/cmd/kubectl")
	cmd.Dir = filepath.Join("..", "..", "lab")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building it: %w\n%s", err, out)
	}
	return path, nil
}
