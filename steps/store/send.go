package store

import (
	"bytes"
	"context"
	"crypto/md5" // S3 wants it of a policy ("PutBucketPolicy", Content-MD5)
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
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

// send signs an order and sends it once ([transport.Send]).
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
	_, err = transport.Send(client, req, saidBy)
	return err
}

// saidBy is what an answer says of itself ("Error responses", REST error responses).
func saidBy(raw []byte) string {
	var in struct{ Code, Message string }
	if xml.Unmarshal(raw, &in) != nil {
		return ""
	}
	return steps.OneLine(in.Code+": "+in.Message, 200)
}
