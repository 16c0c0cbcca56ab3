// Package approval is how the two persons of a gate write to one another.
//
// A [Request] carries the entry in which a gate was shown, as it is stored; all
// that is said of it comes from there. It is sound when the digest that it asks
// for is that of what it shows, and only a sound one may be approved. What is
// signed names the incident, the step, the digest and the time, one to a line. An
// [Approval] is the signature on one line. Both survive a chat, and what stands
// around them is not read. [Requests] are those of an incident that wait, by gate.
// Whose signature counts is the policy's business.
package approval

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// The forms in which the two persons of a gate write to one another. Both pass
// through chats, so that neither has a quote, a tab or a line that matters by its
// length; what is around them is not read.
const (
	requestBegin = "-----BEGIN HANDRAIL APPROVAL REQUEST-----"
	requestEnd   = "-----END HANDRAIL APPROVAL REQUEST-----"
	approvalWord = "handrail-approval-v1"
	maxRequest   = 2 << 20
	maxApproval  = 32 << 10
	columns      = 70
)

// ErrRequest: a text is not a request for an approval that can be answered.
var ErrRequest = errors.New("not a request for an approval")

// Request asks a second person to approve what a gate shows: the entry in which
// it was shown, as it is stored, from which everything that is said of it comes.
type Request struct {
	Incident string
	Seq      int64 // of the entry
	Shown    triage.GateShown
	data     []byte // of the entry
}

// envelope is a request as it is sent.
type envelope struct {
	V        int    `json:"v"`
	Incident string `json:"incident"`
	Seq      int64  `json:"seq"`
	Gate     string `json:"gate"`
}

// NewRequest is the request that a gate.shown entry with these data makes.
func NewRequest(incident string, seq int64, data []byte) (Request, error) {
	body, err := triage.Decode("gate.shown", data)
	if err != nil {
		return Request{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	shown, ok := body.(triage.GateShown)
	if !ok || shown.Second == nil {
		return Request{}, fmt.Errorf("%w: the gate asks for no second person", ErrRequest)
	}
	return Request{Incident: incident, Seq: seq, Shown: shown, data: data}, nil
}

// Text is the request to be sent.
func (r Request) Text() string {
	raw, err := json.Marshal(envelope{1, r.Incident, r.Seq, string(r.data)})
	if err != nil {
		return "" // strings and numbers always marshal
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Please approve %s of incident %s, digest %.6s, until %s: run `handrail approve` and paste this.\n%s\n",
		r.Shown.Step, r.Incident, r.Shown.Digest, r.Shown.Until.UTC().Format("15:04Z"), requestBegin)
	for text := base64.StdEncoding.EncodeToString(raw); text != ""; {
		n := min(columns, len(text))
		out.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	out.WriteString(requestEnd + "\n")
	return out.String()
}

// RequestEnds reports whether a line is the last one of a request.
func RequestEnds(line string) bool { return strings.Contains(line, requestEnd) }

// ParseRequest finds the one request in a text. The error is ErrRequest.
func ParseRequest(text string) (Request, error) {
	bad := func(format string, args ...any) (Request, error) {
		return Request{}, fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, args...))
	}
	if len(text) > maxRequest {
		return bad("over %d MiB", maxRequest>>20)
	}
	_, rest, ok := strings.Cut(text, requestBegin)
	body, rest, whole := strings.Cut(rest, requestEnd)
	switch {
	case !ok:
		return bad("there is no line %q", requestBegin)
	case !whole:
		return bad("it is cut off before %q", requestEnd)
	case strings.Contains(rest, requestBegin):
		return bad("there are two; paste only one")
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	if err != nil {
		return bad("it was changed in transit: %v", err)
	}
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return bad("it was changed in transit: %v", err)
	}
	if e.V != 1 {
		return bad("its version is %d, this handrail knows 1", e.V)
	}
	return NewRequest(e.Incident, e.Seq, []byte(e.Gate))
}

// Sound says why the digest of a request is not the one of what it shows; nil
// where it is. Nothing but a sound request may be approved.
func (r Request) Sound() error {
	b := r.Shown
	p := steps.Preview{Target: b.Target, Request: b.Request, Command: b.Command}
	if got := string(p.Digest(r.Incident, b.Step)); got != b.Digest {
		return fmt.Errorf("the digest of what is shown is %.12s, and %.12q is asked for", got, b.Digest)
	}
	_, err := r.Signed(b.Until)
	return err
}

// namesOnly keeps what is signed to one line a field.
var namesOnly = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,200}$`)

// Signed is the text whose signature approves the request.
func (r Request) Signed(at time.Time) ([]byte, error) {
	sum := sha256.Sum256(r.data)
	for _, name := range []string{r.Incident, r.Shown.Step, r.Shown.Digest} {
		if !namesOnly.MatchString(name) {
			return nil, fmt.Errorf("%w: %q is not the name of an incident, a step or a digest", ErrRequest, name)
		}
	}
	return fmt.Appendf(nil, "handrail approval v1\nincident %s\nstep %s\ndigest %s\nshown %s\nuntil %s\nsigned %s\n",
		r.Incident, r.Shown.Step, r.Shown.Digest, hex.EncodeToString(sum[:]),
		r.Shown.Until.UTC().Format(time.RFC3339Nano), at.UTC().Format(time.RFC3339Nano)), nil
}

// Requests are what the newest previews ask of a second person, by gate; a
// lowering of the severity is one too.
type Requests map[string]Request

// Note takes in a stored entry of the incident.
func (r Requests) Note(incident string, e evidence.Entry) {
	if e.Type != "gate.shown" && e.Type != "severity.ask" {
		return
	}
	delete(r, e.Step)
	if asked, err := NewRequest(incident, e.Seq, e.Data); err == nil {
		r[asked.Shown.Step] = asked
	}
}
