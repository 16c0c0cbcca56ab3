package tfstate

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"handrail/drills/lab"
)

// BenchmarkPeers reads the states of BenchmarkState by what a person would use:
// a real tofu, and jq where it is installed. Their times are those of processes.
func BenchmarkPeers(b *testing.B) {
	opts, err := lab.ForTests("bench-tfstate")
	if err != nil {
		b.Fatal(err)
	}
	tofu, err := lab.Tofu(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{600, 10_000, 100_000} {
		name := written(b, n)
		dir := filepath.Dir(name)
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("terraform {}\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		size, _ := os.Stat(name)
		for way, argv := range map[string][]string{"state-list": {tofu, "state", "list"}, "show-json": {tofu, "show", "-json"}, "jq": {"jq", "[.serial, (.resources | length)]", name}} {
			if _, err := exec.LookPath(argv[0]); err != nil {
				b.Logf("%s is not installed; its row is left out", argv[0])
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", way, n), func(b *testing.B) {
				b.SetBytes(size.Size())
				for b.Loop() {
					cmd := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
					cmd.Dir, cmd.Stdout = dir, io.Discard
					cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
