package metrics

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/promtext"
	"handrail/steps/transport"
)

const (
	// askWithin bounds one answer: a controller of thousands of applications takes seconds for one.
	askWithin = 30 * time.Second
	// mostRead bounds what is read: Flux has a dozen lines for each object that it reconciles.
	mostRead = 32 << 20
	// plainText is the format that is asked for, and no other one.
	plainText = "text/plain;version=0.0.4"
)

type probe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	f := steps.NewFacts(metricsFacts())
	name := in.Text("metrics")
	if name == "" {
		const none = "no address and no file is named"
		return steps.Observation{Summary: "Nothing was read: " + none + ".", Facts: f.Rest(none)}, nil
	}
	obs := steps.Observation{}
	raw, from, err := p.read(ctx, name, f, &obs)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	g, err := gather(raw)
	switch {
	case errors.Is(err, promtext.ErrForm):
		return steps.Observation{}, fmt.Errorf("what %s gives is no metrics: %w; see that it is the address or the file of the controller's own metrics", from, err)
	case err != nil:
		return steps.Observation{}, fmt.Errorf("the metrics of %s: %w", from, err)
	case g.seen.Samples == 0:
		return steps.Observation{}, fmt.Errorf("%s holds no metric: see that it is the address or the file of the controller's own metrics", from)
	}
	g.keep(out, &obs)
	g.tell(from, f, &obs)
	obs.Facts = f.Rest("it is not among the metrics")
	return obs, nil
}

// read gets the text, and says in a word where it is from.
func (p probe) read(ctx context.Context, name string, f steps.Facts, obs *steps.Observation) (raw []byte, from string, err error) {
	if strings.Contains(name, "://") {
		obs.Command = "curl -sS " + steps.Quote(name)
		f.Unknown("it was read from an address", "saved")
		raw, from, err = transport.AskText(ctx, p.env, name, transport.Asking{Accept: plainText, Within: askWithin, Most: mostRead, Roots: p.roots})
		if err != nil && !errors.Is(err, steps.ErrDenied) {
			err = fmt.Errorf("%w; where it cannot be asked from here, save one answer in a file and name that", err)
		}
		return raw, from, err
	}
	path := steps.Below(p.env.Dir, name)
	obs.Command = "cat " + steps.Quote(path)
	file, err := steps.OpenRegular(path)
	if err == nil {
		defer file.Close()
		var info fs.FileInfo
		if raw, info, err = steps.ReadAll(file, mostRead); err == nil {
			f.Set("saved", steps.TimeOf(info.ModTime()))
			return raw, path, nil
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: %w", steps.ErrDenied, err)
	}
	return nil, "", fmt.Errorf("reading the saved metrics: %w", err)
}

// keep makes an artifact of the lines that were read.
func (g *gathered) keep(out steps.Sink, obs *steps.Observation) {
	if gap := steps.Keep(out, "metrics", steps.MediaText, func(w io.Writer) error { _, err := w.Write(g.kept.Bytes()); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	if g.dropped {
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("of the lines that were read, the first %d MiB are kept", mostKept>>20))
	}
}
