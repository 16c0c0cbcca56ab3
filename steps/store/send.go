package store

import (
	"bytes"
	"context"
	"crypto/md5" // S3 wants it of a policy ("PutBucketPolicy", Content-MD5)
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"handrail/steps"
	"handrail/steps/transport"
)

// order is the one request of a gate. Everything of it but its signature, which has the time in it, is known before it is shown.
type order struct {
	path  string // below the server, as it is sent: its characters need no escaping
	query string
	media string
	only  bool // where there is no such object
	body  []byte
}

func (o order) String() string {
	text := "PUT " + o.path
	if o.query != "" {
		text += "?" + o.query
	}
	if o.only {
		text += ", if there is none (If-None-Match: *)"
	}
	return fmt.Sprintf("%s (%d bytes, SHA-256 %s)", text, len(o.body), transport.Sum(o.body)[:12])
}

// errNotTaken says that the store answered, and did not do it.
var errNotTaken = errors.New("the store did not take it")

// send signs an order and sends it once. An error that is not errNotTaken leaves open whether it was taken.
func (p place) send(ctx context.Context, o order) error {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	path := o.path
	if o.query != "" {
		path += "?" + o.query
	}
	client, done := transport.StoreClient(p.env, p.server, p.roots, []transport.Request{{Method: http.MethodPut, Path: path, SHA256: transport.Sum(o.body)}}, p.agent())
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.server.String()+path, bytes.NewReader(o.body))
	if err != nil {
		return err
	}
	digest := md5.Sum(o.body)
	req.Header.Set("Content-Type", o.media)
	req.Header.Set("Content-Md5", base64.StdEncoding.EncodeToString(digest[:]))
	req.Header.Set("X-Amz-Content-Sha256", transport.Sum(o.body))
	if o.only {
		req.Header.Set("If-None-Match", "*")
	}
	signer := v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, p.who, req, transport.Sum(o.body), "s3", p.region, time.Now()); err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err
		}
		if no := (*transport.RefusedError)(nil); errors.As(err, &no) {
			return fmt.Errorf("%w: %w", errNotTaken, err)
		}
		return fmt.Errorf("PUT %s: %w", p.server.Host+o.path, err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 16<<10)) // what was written is read again, whatever the answer says
	says := fmt.Errorf("PUT %s answered %d %s", p.server.Host+o.path, resp.StatusCode, saidBy(raw))
	switch {
	case resp.StatusCode/100 == 3 || resp.StatusCode/100 == 4:
		return fmt.Errorf("%w: %w", errNotTaken, says)
	case resp.StatusCode/100 != 2:
		return says // what stands before the store may answer so after the store did it
	}
	return nil
}

// settled is what an act came to whose request ended with an error, nil for none, once what it wrote was read again.
//
//   - An error that is not errNotTaken leaves open whether it was taken: the act is unknown, and is looked for by its Find.
//   - One that cannot be read again is unknown, whatever was answered.
//   - A refusal is one, unless what was asked for is there: then another put it there, and what became of ours is unknown.
//   - All else is what is there.
func settled(sent error, again func() (steps.Outcome, error)) (steps.Outcome, error) {
	if sent != nil && !errors.Is(sent, errNotTaken) {
		return steps.Outcome{}, sent
	}
	o, err := again()
	switch {
	case err != nil:
		return steps.Outcome{}, errors.Join(sent, err)
	case sent != nil && o.Result == steps.Done:
		return steps.Outcome{}, sent
	case sent != nil:
		o.Result, o.Response = steps.Refused, sent.Error()
	}
	return o, nil
}

// saidBy is what an answer says of itself ("Error responses", REST error responses).
func saidBy(raw []byte) string {
	var in struct{ Code, Message string }
	if xml.Unmarshal(raw, &in) != nil {
		return ""
	}
	return steps.OneLine(in.Code+": "+in.Message, 200)
}
