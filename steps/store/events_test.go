package store

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const noon = "2026-03-04T12:00:00.000Z"

// told is a notification as S3 sends it.
func told(name, bucket, key, at string) string {
	return fmt.Sprintf(`{"Records":[{"eventVersion":"2.1","eventTime":%q,"eventName":%q,"s3":{"bucket":{"name":%q},"object":{"key":%q,"size":3}}}]}`, at, name, bucket, key)
}

// TestEvents: which notifications are read, in what they come.
func TestEvents(t *testing.T) {
	t.Parallel()
	put := told("ObjectCreated:Put", "media", "a.png", noon)
	quoted := strings.ReplaceAll(put, `"`, `\"`)
	for name, tc := range map[string]struct {
		text string
		want string // keys, unreadable, passed
	}{
		"a line each":          {put + "\n" + told("ObjectCreated:Post", "media", "b.png", noon) + "\n", "a.png b.png 0 0"},
		"as MinIO sends it":    {`{"EventName":"s3:ObjectCreated:Put","Key":"media/a.png",` + strings.TrimPrefix(told("s3:ObjectCreated:Put", "media", "a.png", noon), "{"), "a.png 0 0"},
		"a list":               {"[" + put + "," + put + "]", "a.png a.png 0 0"},
		"of a topic":           {`{"Type":"Notification","Message":"` + quoted + `"}`, "a.png 0 0"},
		"of a queue":           {`{"MessageId":"1","Body":"` + quoted + `"}`, "a.png 0 0"},
		"over several lines":   {strings.ReplaceAll(put, ",", ",\n  "), "a.png 0 0"},
		"an encoded key":       {told("ObjectCreated:Put", "media", "a+b%2Bc/%C3%A4.png", noon), "a b+c/ä.png 0 0"},
		"a bare record":        {`{"eventTime":"` + noon + `","eventName":"ObjectCreated:Copy","s3":{"bucket":{"name":"media"},"object":{"key":"a.png"}}}`, "a.png 0 0"},
		"a removal":            {told("ObjectRemoved:Delete", "media", "a.png", noon), "-a.png 0 0"},
		"an expiration":        {told("LifecycleExpiration:Delete", "media", "a.png", noon), "-a.png 0 0"},
		"something else":       {told("ObjectTagging:Put", "media", "a.png", noon), "0 1"},
		"a broken line":        {"{broken\n" + put, "a.png 1 0"},
		"a cut line":           {put + "\n" + put[:40], "a.png 1 0"},
		"a key of no form":     {told("ObjectCreated:Put", "media", "a%zz", noon), "1 0"},
		"no key":               {told("ObjectCreated:Put", "media", "", noon), "1 0"},
		"a time of no form":    {told("ObjectCreated:Put", "media", "a.png", "noon"), "1 0"},
		"a test event":         {`{"Service":"Amazon S3","Event":"s3:TestEvent"}`, "1 0"},
		"envelopes of its own": {`{"Body":"{\"Body\":\"{\\\"Body\\\":\\\"{}\\\"}\"}"}`, "1 0"},
		"a number":             {"1\n2", "2 0"},
		"nothing":              {" \n", "0 0"},
	} {
		got, err := parseEvents([]byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var is []string
		for _, ev := range got.list {
			if ev.made {
				is = append(is, ev.key)
			} else {
				is = append(is, "-"+ev.key)
			}
		}
		is = append(is, fmt.Sprint(got.unreadable), fmt.Sprint(got.passed))
		if text := strings.Join(is, " "); text != tc.want {
			t.Errorf("%s: %q, want %q", name, text, tc.want)
		}
	}
	if _, err := parseEvents([]byte(strings.Repeat("x\n", mostUnreadable+1))); err == nil {
		t.Error("a file of something else was read")
	}
	if got, err := parseEvents([]byte(strings.Repeat("x\n", mostUnreadable))); err != nil || got.unreadable != mostUnreadable {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMissing: what was told last of a key counts.
func TestMissing(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return time.Date(2026, 3, 4, 12, minutes, 0, 0, time.UTC) }
	ev := func(key string, minute int, made bool) event { return event{"media", key, at(minute), made} }
	list := []entry{{"there", 1, at(5)}, {"older", 1, at(1)}, {"skewed", 1, at(4)}, {"back", 1, at(9)}}
	e := events{list: []event{
		ev("there", 5, true), ev("gone", 5, true), ev("gone", 6, true), ev("older", 5, true), ev("skewed", 5, true),
		ev("removed", 5, true), ev("removed", 6, false), ev("back", 8, false), ev("back", 9, true), ev("again", 6, true), ev("again", 6, true),
		ev("late", 3, false), ev("late", 2, true), // the order of the file is not that of time
		{"other", "x", at(5), true}, {"media", "x", at(20), true}, {"media", "x", at(0), true},
	}}
	got := e.missingFrom(list, "media", "", at(1), at(19))
	var keys []string
	for _, ev := range got.missing {
		keys = append(keys, fmt.Sprint(ev.key, ev.at.Minute()))
	}
	if text := strings.Join(keys, " "); text != "gone6 again6" {
		t.Errorf("missing %q", text)
	}
	if got.keys != 6 || got.stale != 1 || got.removed != 2 || got.elsewise != 3 || got.told != 13 {
		t.Errorf("%+v", got)
	}
	if got := e.missingFrom(list, "media", "g", at(0), time.Time{}); got.keys != 1 || got.told != 2 {
		t.Errorf("a prefix: %+v", got)
	}
}

func FuzzEvents(f *testing.F) {
	for _, text := range []string{told("ObjectCreated:Put", "media", "a+b.png", noon), "[1,2]", `{"Body":"[]"}`, "{\n{", `{"Message":"{\"Records\":[{}]}"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parseEvents(raw)
		if err != nil {
			return
		}
		for _, ev := range got.list {
			if ev.key == "" || len(ev.key) > mostKey || ev.bucket == "" || ev.at.IsZero() && ev.at.Year() != 1 {
				t.Errorf("%+v", ev)
			}
		}
		is := got.missingFrom(nil, "media", "", time.Time{}, time.Time{})
		if len(is.missing) != is.keys || is.told+is.elsewise != len(got.list) {
			t.Errorf("%+v of %d", is, len(got.list))
		}
	})
}
