package cloud

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"handrail/steps"
)

// listed answers DescribeDBInstances page by page ("DescribeDBInstances", Marker). after is what follows the last page: nothing, or a
// refusal.
func listed(pages [][]string, refused bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		n := len(form.Get("Marker"))
		if n == len(pages) && refused {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>`)
			return
		}
		marker := ""
		if n+1 < len(pages) || refused {
			marker = "<Marker>" + strings.Repeat("m", n+1) + "</Marker>"
		}
		_, _ = fmt.Fprintf(w, `<DescribeDBInstancesResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><DescribeDBInstancesResult><DBInstances>%s</DBInstances>%s</DescribeDBInstancesResult></DescribeDBInstancesResponse>`, strings.Join(pages[n], ""), marker)
	}
}

func tagged(id string, tags ...string) string {
	var b strings.Builder
	for i := 0; i < len(tags); i += 2 {
		fmt.Fprintf(&b, "<Tag><Key>%s</Key><Value>%s</Value></Tag>", tags[i], tags[i+1])
	}
	return "<DBInstance><DBInstanceIdentifier>" + id + "</DBInstanceIdentifier><TagList>" + b.String() + "</TagList></DBInstance>"
}

// TestTags: what lacks an owner, a purpose or a day, what is past it, and how much was seen.
func TestTags(t *testing.T) {
	t.Parallel()
	today := began.UTC().Format("2006-01-02")
	good := tagged("good", "Owner", "data", "Purpose", "reports", "ExpiresAt", "2099-01-01")
	last := tagged("last", "owner", "data", "purpose", "reports", "EXPIRESAT", today)
	old := tagged("old", "Owner", "data", "Purpose", "load test", "ExpiresAt", "2026-01-01")
	odd := tagged("odd", "Owner", "data", "Purpose", "reports", "ExpiresAt", "when it is over")
	bare := tagged("bare", "Name", "load-test-replica-temp", "Owner", " ")
	for name, tc := range map[string]struct {
		pages   [][]string
		refused bool
		want    map[string]string
	}{
		"all is well, the last day among it": {[][]string{{good, last}}, false, map[string]string{"complete": "true", "instances": "2", "untagged": "0", "expired": "0", "undated": "0", "found": "[]"}},
		"each of the three": {[][]string{{good, old}, {odd, bare}}, false, map[string]string{"instances": "4", "untagged": "1", "expired": "1", "undated": "1",
			"found": `["bare: lacks Owner, Purpose, ExpiresAt","odd: ExpiresAt is no day: when it is over; owner data","old: past its day, 2026-01-01; owner data"]`}},
		"there is none":             {[][]string{{}}, false, map[string]string{"instances": "0", "untagged": "0"}},
		"the second page is denied": {[][]string{{good}}, true, map[string]string{"complete": "false", "at_least": "1", "instances": "?", "untagged": "?", "expired": "?"}},
	} {
		obs, _, err := ask(t, "cloud/tags", listed(tc.pages, tc.refused), steps.Params{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for fact, want := range tc.want {
			got := "?"
			if v := obs.Facts[fact]; v.Known() {
				if got = v.Text(); v.Type() == steps.Strings {
					got = string(v.Raw())
				}
			}
			if got != want {
				t.Errorf("%s: %s is %s, want %s", name, fact, got, want)
			}
		}
		if tc.refused != (len(obs.Gaps) > 0) {
			t.Errorf("%s: gaps %q", name, obs.Gaps)
		}
	}
}
