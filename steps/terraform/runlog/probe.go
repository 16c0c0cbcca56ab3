package runlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"handrail/steps"
	"handrail/steps/joblog"
	"handrail/steps/terraform/module"
)

// maxLog bounds the part of a log that is read.
const maxLog = 64 << 20

// Probe is terraform/log.
type Probe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p Probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		return steps.Observation{}, errors.New("the parameter file is missing: name the log of the run")
	}
	name = steps.Below(p.Env.Dir, name)
	obs := steps.Observation{Command: "less -R " + steps.Quote(name)}
	f := steps.NewFacts(Facts())
	file, err := steps.OpenRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		f.Set("found", steps.BoolOf(false))
		obs.Summary = "There is no log at " + name + "."
		obs.Gaps = append(obs.Gaps, "there is no log at "+name)
		obs.Facts = f.Rest("there is no log")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("log: %w", err)
	}
	defer file.Close()
	f.Set("found", steps.BoolOf(true))
	frame, err := learn(ctx, file)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if e := (*joblog.UnreadableError)(nil); errors.As(err, &e) {
		obs.Gaps = append(obs.Gaps, "the log is not kept: "+e.Why)
		obs.Summary = "The log cannot be read: " + e.Why + "."
		obs.Facts = f.Rest("the log cannot be read: " + e.Why)
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("log %s: %w", name, err)
	}
	runs := newRunLogs(frame)
	cut, torn := false, false
	var readErr error
	gap := steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error {
		text, source, err := decoded(ctx, file)
		if err == nil {
			err = joblog.Each(io.TeeReader(source, w), runs.line)
		}
		if readErr = err; err != nil {
			return err
		}
		if source.N <= 0 {
			n, _ := text.Read(make([]byte, 1))
			cut = n > 0
		}
		torn = text.Torn()
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
	runs.end()
	if cut {
		why := fmt.Sprintf("the log is longer than the %d bytes that were read", maxLog)
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = "The log is too long to be read whole."
		obs.Facts = f.Rest(why)
		return obs, nil
	}
	lacks := runs.lacks()
	if torn {
		lacks = "its compressed form is damaged, so its end is missing"
	}
	runs.fill(f, &obs, lacks)
	return obs, nil
}

// decoded reads a log from its beginning as text, and not more of it than maxLog.
func decoded(ctx context.Context, file io.Reader) (*joblog.Text, *io.LimitedReader, error) {
	text, err := joblog.Decode(module.Until(ctx, file))
	if err != nil {
		return nil, nil, err
	}
	return text, &io.LimitedReader{R: text, N: maxLog}, nil
}

// learn reads a log once to find out what stands before its lines.
func learn(ctx context.Context, file io.Reader) (*joblog.Frame, error) {
	_, source, err := decoded(ctx, file)
	if err != nil {
		return nil, err
	}
	l := joblog.NewLearner()
	if err := joblog.Each(source, l.Line); err != nil {
		return nil, err
	}
	return l.Frame(), nil
}
