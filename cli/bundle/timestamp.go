package bundle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/steps/transport"
)

// stampWithin is how long an authority may take to reply.
const stampWithin = 30 * time.Second

// stampWay says how the authority is asked: over the network, or by files that are carried.
type stampWay struct {
	url     string
	request string // where the query is written
	reply   string // where the reply is read
}

// stampReport is the public form of a time stamp.
type stampReport struct {
	Path   string    `json:"path"`
	File   string    `json:"file"`   // "" when only a query was written
	Before time.Time `json:"before"` // the latest moment that it can mean
	By     string    `json:"by"`
	There  bool      `json:"there"` // it was there already
}

func bundleTimestamp(p *process.Program) *cobra.Command {
	var way stampWay
	cmd := &cobra.Command{
		Use: "timestamp BUNDLE", Short: "Get a time stamp for the seal of a bundle",
		Long: `timestamp asks an authority (RFC 3161) for its signed word that the newest seal of a
bundle existed before a moment, and keeps the reply beside the seal, once it fits. The
authority sees a hash and nothing of the bundle. One time stamp for each seal is
enough; a good one that is there stays.

With --url the authority is asked at once, over https, or over http on this machine.
Elsewhere --request writes the query to a file, for a machine that may reach it:
    curl -H 'Content-Type: application/timestamp-query' --data-binary @FILE URL
and --reply stores what came back.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	cmd.Flags().StringVar(&way.url, "url", "", "ask the authority at this `URL`")
	cmd.Flags().StringVar(&way.request, "request", "", "write the query to this new `file`")
	cmd.Flags().StringVar(&way.reply, "reply", "", "store the reply in this `file`")
	cmd.MarkFlagsMutuallyExclusive("url", "request", "reply")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if way == (stampWay{}) {
			return process.Usage("give one of them", "bundle timestamp needs --url URL, --request FILE or --reply FILE")
		}
		path, err := Find(p, args[0])
		if err != nil {
			return err
		}
		// What does not keep the laws of the loop gets no time stamp either.
		v, err := verify(path, evidence.Policy{}, settings.Approvers(p, nil))
		if err != nil {
			return err
		}
		if !v.OK {
			return &process.Problem{Code: process.ExitTampered, Err: fmt.Errorf("bundle %q does not verify, and gets no time stamp", path), Next: "see `handrail bundle verify " + args[0] + "`"}
		}
		out := stampReport{Path: path}
		if way.request != "" {
			if err := writeQuery(path, way.request); err != nil {
				return err
			}
		} else {
			got, err := way.stamp(cmd.Context(), path)
			if err != nil {
				return err
			}
			out.File, out.Before, out.By, out.There = got.File, got.Before.UTC(), got.By, got.There
		}
		return o.Print(p, out, func() error { return printStamped(p, out, way) })
	}
	return cmd
}

func printStamped(p *process.Program, s stampReport, way stampWay) (err error) {
	switch {
	case s.File == "":
		_, err = fmt.Fprintf(p.Stdout, "%s: query written to %s; store the reply with --reply\n", process.Safe(s.Path), process.Safe(way.request))
	case s.There:
		_, err = fmt.Fprintf(p.Stdout, "%s: had the time stamp %s already: before %s, says %s\n", process.Safe(s.Path), s.File, stamp(s.Before), process.Safe(s.By))
	default:
		_, err = fmt.Fprintf(p.Stdout, "%s: time stamp %s: before %s, says %s\n", process.Safe(s.Path), s.File, stamp(s.Before), process.Safe(s.By))
	}
	return err
}

// writeQuery writes a query without a nonce: an earlier reply about the same seal is as good as one that comes later.
func writeQuery(path, name string) error {
	query, err := evidence.TimestampQuery(path, nil)
	if err != nil {
		return stampError(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return process.Usage("name a file that is not there yet", "--request: %w", err)
	}
	_, err = f.Write(query)
	return errors.Join(err, f.Close())
}

// stamp gets a reply and stores it.
func (w stampWay) stamp(ctx context.Context, path string) (evidence.Timestamp, error) {
	if w.reply != "" {
		raw, err := settings.ReadUpTo(w.reply, sig.MaxTimeStamp)
		if err != nil {
			return evidence.Timestamp{}, process.Usage("name the file that the authority replied with", "--reply: %w", err)
		}
		got, err := evidence.StoreTimestamp(path, raw, nil, evidence.Options{})
		return got, stampError(err)
	}
	to, err := StampURL(w.url)
	if err != nil {
		return evidence.Timestamp{}, err
	}
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return evidence.Timestamp{}, err
	}
	query, err := evidence.TimestampQuery(path, nonce)
	if err != nil {
		return evidence.Timestamp{}, stampError(err)
	}
	raw, err := AskAuthority(ctx, to, query)
	if err != nil {
		return evidence.Timestamp{}, process.Hint(fmt.Errorf("asking %q for a time stamp: %w", to.Redacted(), err), "nothing was stored; ask again, ask another authority, or carry the query there with --request FILE")
	}
	got, err := evidence.StoreTimestamp(path, raw, nonce, evidence.Options{})
	return got, stampError(err)
}

func stampError(err error) error {
	switch {
	case errors.Is(err, evidence.ErrUnsealed):
		return process.Hint(err, "seal it with `handrail bundle seal`")
	case errors.Is(err, evidence.ErrStamp):
		return process.Hint(err, "nothing was stored; ask another authority")
	}
	return ResumeError(err)
}

// StampURL takes https, and http on this machine.
func StampURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, process.Usage("write it as https://HOST/PATH", "--url is not a URL")
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && here) {
		return nil, process.Usage("write it as https://HOST/PATH; for another, carry the query there with --request FILE", "--url %q is neither https nor http on this machine", u.Redacted())
	}
	return u, nil
}

func AskAuthority(ctx context.Context, to *url.URL, query []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stampWithin, fmt.Errorf("no reply within %s", stampWithin))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(string(query)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/timestamp-query")
	req.Header.Set("Accept", "application/timestamp-reply")
	client := http.Client{Transport: transport.Limit(http.DefaultTransport, nil), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, errors.Unwrap(err) // without the URL, which may hold a password
	}
	defer resp.Body.Close()
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return nil, fmt.Errorf("it sends elsewhere (%s); name that place with --url if you trust it", resp.Status)
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		return nil, fmt.Errorf("it answered %s", resp.Status)
	case kind != "application/timestamp-reply":
		return nil, fmt.Errorf("it answered with %q, which is no time stamp", kind)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, sig.MaxTimeStamp+1))
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case len(raw) > sig.MaxTimeStamp:
		return nil, fmt.Errorf("it answered with over %d bytes", sig.MaxTimeStamp)
	}
	return raw, nil
}
