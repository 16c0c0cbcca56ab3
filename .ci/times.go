// Command times gives each tracked file of a clean clone the time of its content.
//
// go test takes a result that it has where the files that a test read have the sizes and the
// times that they had (cmd/go/internal/test, hashOpen), and a clone gives each file the time of
// the clone. A time here is the head of the hash of the file's blob, a moment between 1970 and
// 1978; a directory, which is read by the names and times in it, has the epoch.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "times:", err)
		os.Exit(1)
	}
}

func run() error {
	changed, err := exec.Command("git", "status", "--porcelain").Output()
	if err != nil || len(changed) > 0 {
		return err // what is changed has its own times
	}
	listed, err := exec.Command("git", "ls-files", "-s", "-z").Output()
	if err != nil {
		return err
	}
	epoch := time.Unix(0, 0)
	directories := map[string]bool{}
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(listed, []byte{0}), []byte{0}) {
		about, path, _ := strings.Cut(string(entry), "\t")
		if !strings.HasPrefix(about, "100") { // "100644 HASH 0": a link is as it was made
			continue
		}
		head, err := strconv.ParseInt(strings.Fields(about)[1][:14], 16, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		at := time.Unix(head>>28, head&(1<<28-1))
		if err := os.Chtimes(path, at, at); err != nil {
			return err
		}
		for dir := filepath.Dir(path); !directories[dir]; dir = filepath.Dir(dir) {
			directories[dir] = true
		}
	}
	for dir := range directories {
		if err := os.Chtimes(dir, epoch, epoch); err != nil {
			return err
		}
	}
	return exec.Command("git", "update-index", "-q", "--refresh").Run()
}
