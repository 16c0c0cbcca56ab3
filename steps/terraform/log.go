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

func logFacts() []steps.Field {
	return []steps.Field{
		{Name: "found", Type: steps.Bool, Doc: "whether there is such a file"},
		{Name: "started", Type: steps.Int, Doc: "operations on resources that the log starts"},
		{Name: "completed", Type: steps.Int, Doc: "operations that it completes"},
		{Name: "errored", Type: steps.Int, Doc: "operations that it ends with an error"},
		{Name: "interrupted", Type: steps.Bool, Doc: "whether the run says that it was interrupted"},
		{Name: "finished", Type: steps.Bool, Doc: "whether the run says that it came to its end"},
		{Name: "last_line", Type: steps.String, Doc: "last line that is not empty"},
		{Name: "completed_addresses", Type: steps.Strings, Doc: "addresses with a completed operation, in order"},
		{Name: "started_addresses", Type: steps.Strings, Doc: "addresses with an operation that started and never completed, in order"},
	}
}

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

func (r *runLog) fill(f steps.Facts, obs *steps.Observation) {
	done, open := r.addresses()
	f.Set("started", steps.IntOf(int64(r.started)))
	f.Set("completed", steps.IntOf(int64(r.completed)))
	f.Set("errored", steps.IntOf(int64(len(r.failed))))
	f.Set("interrupted", steps.BoolOf(r.interrupted))
	f.Set("finished", steps.BoolOf(r.finished))
	f.Set("last_line", steps.StringOf(r.last))
	f.Set("completed_addresses", steps.StringsOf(done))
	f.Set("started_addresses", steps.StringsOf(open))
	if len(open) > 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning,
			Say: fmt.Sprintf("%d operations started and never completed, first %s: what they made may exist without being in the state.", len(open), open[0])})
	}
	how := "it does not say that it ended"
	switch {
	case r.finished:
		how = "it came to its end"
	case r.interrupted:
		how = "it was interrupted"
	case len(r.failed) > 0:
		how = "it ended in an error"
	}
	obs.Summary = fmt.Sprintf("The log starts %d operations and completes %d; %s.", r.started, r.completed, how)
	obs.Facts = f.Rest("not read")
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
