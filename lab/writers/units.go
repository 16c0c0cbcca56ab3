package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// restartAfter is what the units say of it.
const restartAfter = time.Second

// unit is a program of the node that Kubernetes knows nothing of. It is kept
// running while one of its files is there: its unit, unless it is masked, or its
// entry of cron.
type unit struct {
	Program string   `json:"program"` // path
	Title   string   `json:"title"`   // what ps shows
	Dir     string   `json:"dir"`     // with its loop.json
	Files   []string `json:"files"`
}

// loopVariable tells a program that shows no arguments where its plan is.
const loopVariable = "HANDRAIL_WRITERS_LOOP"

// keepUnits runs the units of dir/units until ctx ends.
func keepUnits(ctx context.Context, dir string) {
	kept := map[string]context.CancelFunc{}
	ended := make(chan string)
	for {
		files, _ := filepath.Glob(filepath.Join(dir, "units", "*.json"))
		for _, file := range files {
			var u unit
			if err := readPlan("", file, &u); err != nil {
				complain(err)
				continue
			}
			stop, runs := kept[file]
			switch wanted := u.wanted(); {
			case wanted && !runs:
				life, cancel := context.WithCancel(ctx)
				kept[file] = cancel
				go func() {
					u.keep(life)
					select {
					case ended <- file:
					case <-ctx.Done():
					}
				}()
			case !wanted && runs:
				stop()
			}
		}
		t := time.NewTimer(look)
		select {
		case <-ctx.Done():
			return
		case file := <-ended:
			kept[file]()
			delete(kept, file)
		case <-t.C:
		}
		t.Stop()
	}
}

// wanted reports whether one of the files is there and not masked.
func (u unit) wanted() bool {
	for _, f := range u.Files {
		if to, err := os.Readlink(f); err == nil && to == os.DevNull {
			continue
		}
		if _, err := os.Stat(f); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// keep starts the program, and again when it ended, until life ends.
func (u unit) keep(life context.Context) {
	for life.Err() == nil {
		cmd := exec.CommandContext(life, u.Program)
		cmd.Args = []string{u.Title}
		cmd.Dir, cmd.Env = u.Dir, append(os.Environ(), loopVariable+"="+u.Dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil && life.Err() == nil {
			complain(err)
		}
		wait(life, restartAfter)
	}
}
