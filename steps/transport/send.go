package transport

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"handrail/steps"
)

// ErrNotTaken says that a server answered a request, and did not do it.
var ErrNotTaken = errors.New("it was not taken")

// mostSaid is how much of an answer to a write is read: what was written is read again, whatever the answer says.
const mostSaid = 16 << 10

// Answer is what a server answered to a write.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // 16 KiB of it at most
}

// Send sends the one request of a gate by a client that sends it once, and returns the answer. said is what a body
// says of itself, in one line.
//
// An error that is not [ErrNotTaken] leaves open whether it was done. An answer of 3xx or 4xx is one that it was not; one of 5xx
// leaves it open, since what stands before a server may answer so after the server did it.
func Send(client *http.Client, req *http.Request, said func([]byte) string) (Answer, error) {
	at := req.URL.Host + req.URL.EscapedPath()
	resp, err := client.Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err
		}
		if no := (*RefusedError)(nil); errors.As(err, &no) {
			return Answer{}, fmt.Errorf("%w: %w", ErrNotTaken, err)
		}
		return Answer{}, fmt.Errorf("%s %s: %w", req.Method, at, err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, mostSaid))
	answer := Answer{resp.StatusCode, resp.Header, body}
	says := fmt.Errorf("%s %s answered %d: %s", req.Method, at, resp.StatusCode, cmp.Or(said(body), http.StatusText(resp.StatusCode)))
	switch resp.StatusCode / 100 {
	case 2:
		return answer, nil
	case 3, 4:
		return answer, fmt.Errorf("%w: %w", ErrNotTaken, says)
	}
	return answer, says
}

// Settled is what an act came to whose request ended with an error, nil for none. again reads what it was to change.
//
//   - An error that is not [ErrNotTaken] leaves open whether it was done: the outcome is unknown, until it is looked for.
//   - What cannot be read again is unknown, whatever was answered.
//   - A refusal is one, unless what was asked for is there: then another made it, and what became of this one is unknown.
//   - All else is what is there: an answer alone is no success.
func Settled(sent error, again func() (steps.Outcome, error)) (steps.Outcome, error) {
	if sent != nil && !errors.Is(sent, ErrNotTaken) {
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
