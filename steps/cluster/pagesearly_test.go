package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// pagesServer answers as the pages say, by continue token, and returns a client of it.
func pagesServer(t *testing.T, page func(w http.ResponseWriter, r *http.Request, token string)) *Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		page(w, r, r.URL.Query().Get("continue"))
	}))
	t.Cleanup(srv.Close)
	c, err := Connect(steps.Env{Home: t.TempDir(), Now: time.Now, Kubectl: []string{"--server=" + srv.URL}}, steps.SecretsOnly(nil))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type named struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func podNames(c *Client) (names []string, err error) {
	err = Each(context.Background(), c, "/api/v1/pods", nil, func(o named) { names = append(names, o.Metadata.Name) })
	return names, err
}

// TestEarly: a page that says first how the list goes on is followed while it is decoded, with what it holds and says
// unchanged.
func TestEarly(t *testing.T) {
	t.Parallel()
	const first, sorted = `{"kind":"PodList","metadata":{"continue":%q},"items":[%s]}`, `{"items":[%[2]s],"kind":"PodList","metadata":{"continue":%[1]q}}`
	item := func(name string) string { return `{"metadata":{"name":"` + name + `"}}` }
	for _, form := range []string{first, sorted} {
		for name, tc := range map[string]struct {
			second string
			want   []string
			says   string
		}{
			"all":        {fmt.Sprintf(form, "", item("c")), []string{"a", "b", "c"}, ""},
			"three":      {fmt.Sprintf(form, "3", item("c")), []string{"a", "b", "c", "d"}, ""},
			"again":      {fmt.Sprintf(form, "2", item("c")), []string{"a", "b", "c"}, "same page again"},
			"nothing":    {fmt.Sprintf(form, "", ""), []string{"a", "b"}, ""},
			"cut off":    {fmt.Sprintf(form, "", item("c"))[:30], []string{"a", "b"}, "cannot be read"},
			"not a list": {`{"kind":"Pod"}`, []string{"a", "b"}, "lists nothing"},
		} {
			c := pagesServer(t, func(w http.ResponseWriter, _ *http.Request, token string) {
				switch token {
				case "":
					fmt.Fprintf(w, form, "2", item("a")+","+item("b"))
				case "2":
					fmt.Fprint(w, tc.second)
				default:
					fmt.Fprintf(w, form, "", item("d"))
				}
			})
			got, err := podNames(c)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: error = %v, want %q", name, err, tc.says)
			}
			if len(got) > len(tc.want) || !slices.Equal(got, tc.want[:len(got)]) || err == nil && len(got) != len(tc.want) {
				t.Errorf("%s: %v, want %v", name, got, tc.want)
			}
		}
	}
}

// TestEarlyEnds: a page that cannot be decoded ends the request for the one after it, which would never be answered.
func TestEarlyEnds(t *testing.T) {
	t.Parallel()
	c := pagesServer(t, func(w http.ResponseWriter, r *http.Request, token string) {
		if token == "" {
			fmt.Fprint(w, `{"kind":"PodList","metadata":{"continue":"2"},"items":[{"metadata":{"name":7}}]}`)
			return
		}
		<-r.Context().Done()
	})
	if _, err := podNames(c); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("error = %v", err)
	}
}

// TestEarlyOutlives: the moment of a list that is gone is followed at the one that the server names.
func TestEarlyOutlives(t *testing.T) {
	t.Parallel()
	c := pagesServer(t, func(w http.ResponseWriter, _ *http.Request, token string) {
		switch token {
		case "":
			fmt.Fprint(w, `{"kind":"PodList","metadata":{"continue":"2"},"items":[{"metadata":{"name":"a"}}]}`)
		case "2":
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"metadata":{"continue":"2b"}}`)
		case "2b":
			fmt.Fprint(w, `{"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"b"}}]}`)
		}
	})
	if got, err := podNames(c); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v %v", got, err)
	}
}

// FuzzHead: what is read of a page before its items is what the whole page says.
func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"kind":"PodList","metadata":{"continue":"2"},"items":[]}`))
	f.Add([]byte(`{"items":[],"metadata":{"continue":"2"}}`))
	f.Add([]byte(`{"metadata":{"continue":"2"},"metadata":{"continue":"3"},"items":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		early, ok := head(raw)
		late, err := Page{Items: "items", Item: (*Scanner).Skip}.Parse(raw)
		if ok && err == nil && early.Continue != late.Continue && strings.Count(string(raw), `metadata`) < 2 {
			t.Errorf("%q, then %q", early.Continue, late.Continue)
		}
	})
}
