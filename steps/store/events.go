package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

const (
	mostEventBytes = 64 << 20
	mostEvents     = 1_000_000
	mostUnreadable = 100
	mostWrapped    = 3 // envelopes around an event: of a queue, of a topic
	mostKey        = 1024
)

// event is one notification of a store about one object.
type event struct {
	bucket, key string
	at          time.Time
	made        bool // created; else removed
}

// events are what a file of notifications has.
type events struct {
	list       []event
	unreadable int // documents that are no notification, or name no object
	passed     int // of what neither makes an object nor takes it away
}

// parseEvents reads notifications as S3 and MinIO send them ("Event message structure" in the Amazon S3 User Guide): a document in
// each line, one after the other, or a list of them; alone, or as a queue or a topic wraps them.
func parseEvents(raw []byte) (events, error) {
	var out events
	for len(bytes.TrimSpace(raw)) > 0 {
		dec := json.NewDecoder(bytes.NewReader(raw))
		var err error
		for err == nil {
			var doc json.RawMessage
			if err = dec.Decode(&doc); err == nil {
				err = out.take(doc, 0)
			}
			if over := (*tooManyError)(nil); errors.As(err, &over) {
				return out, err
			}
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		// What cannot be read ends with its line.
		if out.unreadable++; out.unreadable > mostUnreadable {
			return out, fmt.Errorf("more than %d of its documents are no notifications of a store", mostUnreadable)
		}
		rest := bytes.TrimLeft(raw[min(dec.InputOffset(), int64(len(raw))):], " \t\r\n")
		_, raw, _ = bytes.Cut(rest, []byte("\n"))
	}
	return out, nil
}

type tooManyError struct{}

func (*tooManyError) Error() string {
	return fmt.Sprintf("it has more than the %d notifications that are read", mostEvents)
}

// take reads one document. Only what breaks off the reading is an error; what is no notification is counted.
func (e *events) take(doc json.RawMessage, depth int) error {
	doc = bytes.TrimSpace(doc)
	if depth > mostWrapped || len(doc) == 0 {
		e.unreadable++
		return nil
	}
	if doc[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(doc, &list) != nil || len(list) == 0 {
			e.unreadable++
			return nil
		}
		for _, one := range list {
			if err := e.take(one, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	var in struct {
		Records       []json.RawMessage
		Message, Body string // of a topic, of a queue
		EventName     string `json:"eventName"`
		EventTime     string `json:"eventTime"`
		S3            *struct {
			Bucket struct{ Name string }
			Object struct{ Key string }
		} `json:"s3"`
	}
	if json.Unmarshal(doc, &in) != nil {
		e.unreadable++
		return nil
	}
	switch {
	case len(in.Records) > 0:
		for _, one := range in.Records {
			if err := e.take(one, depth+1); err != nil {
				return err
			}
		}
	case in.S3 != nil:
		return e.record(in.EventName, in.EventTime, in.S3.Bucket.Name, in.S3.Object.Key)
	case in.Body != "":
		return e.take(json.RawMessage(in.Body), depth+1)
	case in.Message != "":
		return e.take(json.RawMessage(in.Message), depth+1)
	default:
		e.unreadable++
	}
	return nil
}

// record takes one of an event. Its key is encoded as in a form, with + for a blank.
func (e *events) record(name, at, bucket, key string) error {
	name = strings.TrimPrefix(name, "s3:")
	made := strings.HasPrefix(name, "ObjectCreated:")
	if !made && !strings.HasPrefix(name, "ObjectRemoved:") && !strings.HasPrefix(name, "LifecycleExpiration:") {
		e.passed++
		return nil
	}
	plain, err := url.QueryUnescape(key)
	when, terr := time.Parse(time.RFC3339Nano, at)
	if err != nil || terr != nil || bucket == "" || plain == "" || len(plain) > mostKey {
		e.unreadable++
		return nil
	}
	if len(e.list) == mostEvents {
		return &tooManyError{}
	}
	e.list = append(e.list, event{bucket, plain, when.UTC(), made})
	return nil
}

// skew is how much earlier than its notification an object may say that it was written: the two have clocks of their own.
const skew = time.Minute

// phantoms are what was told and is not there.
type phantoms struct {
	keys     int // of which a creation was told
	told     int // events among those of the bucket
	missing  []event
	stale    int // keys whose object is older than what was told: what was written over it is lost
	removed  int // keys that were told to be removed afterwards
	elsewise int // events of other buckets, names or times
}

// missingFrom holds the newest that was told of each key against a list that is complete. Of keys, missing has the newest creation,
// in the order in which they were told first.
func (e events) missingFrom(list []entry, bucket, prefix string, from, until time.Time) phantoms {
	there := make(map[string]time.Time, len(list))
	for _, o := range list {
		there[o.Key] = o.Modified
	}
	var out phantoms
	newest, order := map[string]event{}, []string{}
	for _, ev := range e.list {
		if ev.bucket != bucket || !strings.HasPrefix(ev.key, prefix) || ev.at.Before(from) || !until.IsZero() && ev.at.After(until) {
			out.elsewise++
			continue
		}
		out.told++
		was, seen := newest[ev.key]
		if !seen {
			order = append(order, ev.key)
		}
		if !seen || !ev.at.Before(was.at) {
			newest[ev.key] = ev
		}
	}
	for _, key := range order {
		ev := newest[key]
		if !ev.made {
			out.removed++
			continue
		}
		out.keys++
		if at, is := there[key]; !is {
			out.missing = append(out.missing, ev)
		} else if at.Before(ev.at.Add(-skew)) {
			out.stale++
		}
	}
	return out
}
