package terraform

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"handrail/steps"
)

// maxLog bounds the part of a log that is read; maxLine the part of a line that
// is looked at.
const (
	maxLog  = 64 << 20
	maxLine = 1 << 20
)

type logProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p logProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		return steps.Observation{}, errors.New("the parameter file is missing: name the log of the run")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.env.Dir, name)
	}
	obs := steps.Observation{Command: "less -R " + steps.Quote(name)}
	f := steps.NewFacts(logFacts())
	file, err := openRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		f.Set("found", steps.BoolOf(false))
		obs.Summary = "There is no log at " + name + "."
		obs.Facts = f.Rest("there is no log")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("log: %w", err)
	}
	defer file.Close()
	f.Set("found", steps.BoolOf(true))
	run := newRunLog()
	cut := false
	var readErr error
	gap := steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error {
		source := &io.LimitedReader{R: bounded(ctx, file), N: maxLog}
		tee := io.TeeReader(source, w)
		if readErr = eachLine(tee, run.line); readErr != nil {
			return readErr
		}
		if source.N <= 0 {
			n, _ := file.Read(make([]byte, 1))
			cut = n > 0
		}
		return nil
	})
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	if readErr != nil {
		return steps.Observation{}, fmt.Errorf("log %s: %w", name, readErr)
	}
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	run.end()
	if cut {
		why := fmt.Sprintf("the log is longer than the %d bytes that were read", maxLog)
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = "The log is too long to be read whole."
		obs.Facts = f.Rest(why)
		return obs, nil
	}
	run.fill(f, &obs)
	return obs, nil
}

// eachLine calls do with each line, cut at maxLine; a line may be of any length.
func eachLine(r io.Reader, do func([]byte)) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, more, err := br.ReadLine()
		if room := maxLine - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if err != nil || !more {
			if len(line) > 0 {
				do(line)
			}
			line = line[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
