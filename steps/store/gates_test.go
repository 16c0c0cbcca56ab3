package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
	"handrail/steps/stepstest"
)

func withPeople(in steps.Params) steps.Params {
	in["identities"], in["writer"], in["intended"] = steps.StringOf(strings.Join(accounts, ",")), steps.StringOf("upload-writer"), steps.StringOf("warehouse-reader")
	in["action"], in["key"] = steps.StringOf("s3:PutObject"), steps.StringOf("handrail/canary")
	in["bucket_only"] = steps.BoolOf(true)
	return in
}

// TestPolicies: four identities in one change, of which three are right.
func TestPolicies(t *testing.T) {
	t.Parallel()
	h := openShop(t, accounts...)
	h.write("before.json", doc(lets))
	in := withPeople(media())
	in["before"] = steps.PathOf("before.json")
	obs, _, err := h.look("store/policies", in)
	if err != nil {
		t.Fatal(err)
	}
	says(t, "no policy", obs, map[string]string{"exists": "false", "digest": "?", "writer": "none", "statements": "0", "changed": "true", "decides": "?"})
	if err := h.setPolicy(doc(lets, others, locked)); err != nil {
		t.Fatal(err)
	}
	obs, out, err := h.look("store/policies", in)
	if err != nil {
		t.Fatal(err)
	}
	says(t, "the change", obs, map[string]string{"exists": "true", "statements": "3", "inverted": `["WarehouseOnly"]`, "writer": "deny", "decides": "WarehouseOnly", "intended": "allow", "settled": "true", "open": "[]",
		"lost": `["upload-writer" "backup-agent" "media-resizer" "report-exporter"]`, "won": "[]", "changed": "true", "added": `["Tightened" "WarehouseOnly"]`, "writer_by": "resource policy 1, statement 3 (WarehouseOnly)"})
	if out.Artifacts["bucket-policy"].String() != doc(lets, others, locked) || out.Artifacts["policy-before"].String() != doc(lets) {
		t.Error("the documents are not kept as they are")
	}
	// Without the policies of the identities an Allow of the bucket is not known, and a Deny is.
	in["bucket_only"] = steps.BoolOf(false)
	if obs, _, err = h.look("store/policies", in); err != nil {
		t.Fatal(err)
	}
	says(t, "one layer", obs, map[string]string{"writer": "deny", "intended": "?", "settled": "false", "lost": "[]"})
	h.write("people/upload-writer.json", allows)
	h.write("people/backup-agent/one.json", `{"Statement":{"Effect":"Deny","Action":"s3:PutObject","Resource":"*"}}`)
	in["identity_policies"] = steps.PathOf("people")
	if obs, _, err = h.look("store/policies", in); err != nil {
		t.Fatal(err)
	}
	says(t, "both layers", obs, map[string]string{"writer": "deny", "lost": `["upload-writer"]`, "settled": "false"})
	if was := obs.Facts["was"].Table(); was["upload-writer"] != "allow" || was["backup-agent"] != "deny" || was["media-resizer"] != "unknown" {
		t.Errorf("was: %v", was)
	}
	in["profile"] = steps.StringOf("upload-writer")
	if _, _, err := h.look("store/policies", in); !errors.Is(err, steps.ErrDenied) {
		t.Errorf("who may not read it: %v", err)
	}
}

// TestPhantoms holds notifications against a real bucket.
func TestPhantoms(t *testing.T) {
	t.Parallel()
	h := openShop(t)
	for i := range 13 {
		if err := h.put("", fmt.Sprintf("avatars/u %d.jpg", i)); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for i := range 12400 { // as the incident had them
		at := clock(h.env).AddDate(0, 0, -1)
		b.WriteString(told("s3:ObjectCreated:Put", "media", fmt.Sprintf("avatars/u+%d.jpg", i), at.Format("2006-01-02T15:04:05.000Z")) + "\n")
	}
	h.write("events.jsonl", b.String())
	in := media()
	in["notifications"] = steps.PathOf("events.jsonl")
	obs, out, err := h.look("store/phantoms", in)
	if err != nil {
		t.Fatal(err)
	}
	says(t, "all", obs, map[string]string{"events": "12400", "keys": "12400", "phantoms": "12387", "stale": "0", "removed": "0", "unreadable": "0", "other": "0", "complete": "true", "first_at": "*", "last_at": "*"})
	if list := obs.Facts["examples"].Strings(); len(list) != 10 || list[0] != "avatars/u 13.jpg" {
		t.Errorf("examples: %q", list)
	}
	if out.Artifacts["notifications"].Len() != b.Len() {
		t.Error("the notifications are not kept")
	}
	in["most"] = steps.IntOf(5)
	if obs, _, err = h.look("store/phantoms", in); err != nil {
		t.Fatal(err)
	}
	says(t, "one page is read whole", obs, map[string]string{"phantoms": "12387"})
	h.write("events.jsonl", b.String()+"cut")
	if obs, _, err = h.look("store/phantoms", in); err != nil {
		t.Fatal(err)
	}
	says(t, "a cut file", obs, map[string]string{"phantoms": "?", "unreadable": "1", "events": "12400"})
}

func (h *shop) gate(name string) steps.Gater { return kindOf(h.t, name).Changes(h.env) }

// act goes through preview, confirmation and act.
func (h *shop) act(name string, in steps.Params) (steps.Preview, steps.Outcome, error) {
	h.t.Helper()
	g, out := h.gate(name), stepstest.NewSink()
	p, err := g.Preview(h.t.Context(), in, out)
	if err != nil {
		return p, steps.Outcome{}, err
	}
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		return p, steps.Outcome{}, err
	}
	o, err := g.Act(h.t.Context(), a, out)
	if _, again := g.Act(h.t.Context(), a, out); !errors.Is(again, steps.ErrSpent) {
		h.t.Errorf("%s acted twice: %v", name, again)
	}
	return p, o, err
}

func (h *shop) policy() string {
	h.t.Helper()
	got, err := h.client("").GetBucketPolicy(h.t.Context(), &s3.GetBucketPolicyInput{Bucket: aws.String("media")})
	if err != nil {
		h.t.Fatal(err)
	}
	return aws.ToString(got.Policy)
}

// TestPolicyGate: one Deny is replaced by one that names whom it denies, and nothing else passes.
func TestPolicyGate(t *testing.T) {
	t.Parallel()
	h := openShop(t, accounts...)
	live := doc(lets, others, locked)
	if err := h.setPolicy(live); err != nil {
		t.Fatal(err)
	}
	digest := document{raw: []byte(live)}.digest()
	ask := func(wanted string, change func(steps.Params)) steps.Params {
		h.write("wanted.json", wanted)
		in := withPeople(media())
		in["policy"], in["replaces"], in["digest"] = steps.PathOf("wanted.json"), steps.StringOf("WarehouseOnly"), steps.IdentOf(digest)
		in["keep"] = steps.StringOf("backup-agent, media-resizer,report-exporter")
		if change != nil {
			change(in)
		}
		return in
	}
	everyone := strings.Replace(right, `{"AWS":["warehouse-reader"]}`, `"*"`, 1)
	for name, tc := range map[string]struct {
		wanted string
		change func(steps.Params)
		want   string
	}{
		"the policy of before":      {doc(lets), nil, "3 statements, and the new one 1"},
		"a revert of all":           {doc(lets, strings.Replace(others, "Deny", "Allow", 1), right), nil, "Statement Tightened is changed as well"},
		"the inversion again":       {doc(lets, others, strings.Replace(locked, "WarehouseOnly", "Again", 1)), nil, "denies all but those that it names (warehouse-reader)"},
		"NotPrincipal":              {doc(lets, others, notWho), nil, "denies all but those that it names (warehouse-reader)"},
		"a Deny for all":            {doc(lets, others, everyone), nil, "denies all."},
		"an Allow":                  {doc(lets, others, strings.Replace(right, `"Deny"`, `"Allow"`, 1)), nil, "The new statement allows"},
		"another is let through":    {doc(lets, others, strings.Replace(right, "warehouse-reader", "backup-agent", 1)), nil, "warehouse-reader is to stay denied, and would get allow"},
		"the writer stays denied":   {doc(lets, others, strings.Replace(right, "warehouse-reader", "upload-writer", 1)), nil, "upload-writer still may not do s3:PutObject"},
		"another statement":         {doc(lets, others, right), func(in steps.Params) { in["replaces"] = steps.StringOf("Tightened") }, "Statement WarehouseOnly is changed as well"},
		"none of that name":         {doc(lets, others, right), func(in steps.Params) { in["replaces"] = steps.StringOf("Absent") }, "No statement has the Sid"},
		"it moved since":            {doc(lets, others, right), func(in steps.Params) { in["digest"] = steps.IdentOf(strings.Repeat("0", 64)) }, "another than the one that was read"},
		"another version":           {strings.Replace(doc(lets, others, right), "2012-10-17", "2008-10-17", 1), nil, "beside the statements is changed"},
		"no writer":                 {doc(lets, others, right), func(in steps.Params) { delete(in, "writer") }, "No writer is named"},
		"one to keep is not looked": {doc(lets, others, right), func(in steps.Params) { in["keep"] = steps.StringOf("stranger") }, "none of the identities that are evaluated"},
		"one layer of two":          {doc(lets, others, right), func(in steps.Params) { in["bucket_only"] = steps.BoolOf(false) }, "is not known for all"},
		"a Deny under a condition":  {doc(lets, others, strings.TrimSuffix(right, "}")+`,"Condition":{"Bool":{"aws:SecureTransport":"true"}}}`), nil, "under a condition alone"},
	} {
		p, err := h.gate("store/policy").Preview(t.Context(), ask(tc.wanted, tc.change), stepstest.NewSink())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := fmt.Sprint(p.Unmet)
		if len(p.Unmet) == 0 || !strings.Contains(text, tc.want) {
			t.Errorf("%s: %s, want %q", name, text, tc.want)
		}
	}
	if now := h.policy(); now != live {
		t.Fatalf("a preview changed the policy: %s", now)
	}
	p, o, err := h.act("store/policy", ask(doc(lets, others, right), nil))
	if err != nil || o.Result != steps.Done {
		t.Fatalf("%+v, %v, unmet %v", o, err, p.Unmet)
	}
	if p.Phrase != "write store policy/media" || !bytes.Equal(p.Prior.Raw, []byte(live)) || h.policy() != doc(lets, others, right) {
		t.Errorf("phrase %q, prior %s", p.Phrase, p.Prior.Raw)
	}
	if err := h.put("upload-writer", "x"); err != nil {
		t.Errorf("the writer: %v", err)
	}
	if err := h.put("warehouse-reader", "x"); err == nil {
		t.Error("warehouse-reader writes")
	}
	o, err = h.gate("store/policy").(steps.Finder).Find(t.Context(), p.Target, media(), stepstest.NewSink())
	if err != nil || o.Result != steps.Done {
		t.Errorf("found: %+v, %v", o, err)
	}
	if err := h.setPolicy(live); err != nil {
		t.Fatal(err)
	}
	if o, err = h.gate("store/policy").(steps.Finder).Find(t.Context(), p.Target, media(), stepstest.NewSink()); err != nil || o.Result != steps.Failed {
		t.Errorf("found after it was undone: %+v, %v", o, err)
	}
	// Who may not write it is refused by the store, and that is what is said.
	in := ask(doc(lets, others, right), nil)
	in["profile"] = steps.StringOf("upload-writer")
	if _, _, err := h.act("store/policy", in); !errors.Is(err, steps.ErrDenied) {
		t.Errorf("another identity: %v", err)
	}
}

// TestCanaryGate: a canary is listed, or it is said that it was not stored.
func TestCanaryGate(t *testing.T) {
	t.Parallel()
	h := openShop(t, accounts...)
	canary := func(who, key string) steps.Params {
		in := media()
		in["key"], in["profile"] = steps.StringOf(key), steps.StringOf(who)
		return in
	}
	if err := h.setPolicy(doc(lets, right)); err != nil {
		t.Fatal(err)
	}
	p, o, err := h.act("store/canary", canary("upload-writer", "canary/1"))
	if err != nil || o.Result != steps.Done || p.Phrase != "write store canary/media" {
		t.Errorf("%+v, %v, %q", o, err, p.Phrase)
	}
	if _, _, err := h.act("store/canary", canary("upload-writer", "canary/1")); !errors.Is(err, steps.ErrUnmet) {
		t.Errorf("one that is there: %v", err)
	}
	if _, o, err = h.act("store/canary", canary("warehouse-reader", "canary/2")); err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "AccessDenied") {
		t.Errorf("denied: %+v, %v", o, err)
	}
	if o, err = h.gate("store/canary").(steps.Finder).Find(t.Context(), p.Target, canary("upload-writer", "canary/1"), stepstest.NewSink()); err != nil || o.Result != steps.Done {
		t.Errorf("found: %+v, %v", o, err)
	}
}

// TestPretty: what is short stays on one line, and nothing is lost.
func TestPretty(t *testing.T) {
	t.Parallel()
	raw := `{"Sid":"A","Principal":{"AWS":["one"]},"Action":["s3:PutObject","s3:DeleteObject"],"Condition":{"StringNotEquals":{"aws:username":["one","two"]}},"Resource":["arn:aws:s3:::a-bucket-with-a-long-name/uploads/*","arn:aws:s3:::a-bucket-with-a-long-name/avatars/*"]}`
	want := `{
  "Sid": "A",
  "Principal": {"AWS": ["one"]},
  "Action": ["s3:PutObject", "s3:DeleteObject"],
  "Condition": {"StringNotEquals": {"aws:username": ["one", "two"]}},
  "Resource": [
    "arn:aws:s3:::a-bucket-with-a-long-name/uploads/*",
    "arn:aws:s3:::a-bucket-with-a-long-name/avatars/*"
  ]
}`
	got := strings.Join(pretty([]byte(raw)), "\n")
	if got != want {
		t.Errorf("%s", got)
	}
	if !same([]byte(got), []byte(raw)) {
		t.Error("it is another document")
	}
}
