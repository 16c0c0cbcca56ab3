package cloud

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

const (
	account = "111122223333"
	role    = "arn:aws:iam::" + account + ":role/ci/deploy"
)

var began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// trailEvent is a record as CloudTrail writes it for a session of a role.
func trailEvent(change func(map[string]any)) map[string]any {
	e := map[string]any{
		"eventVersion": "1.11", "eventTime": began.Add(5 * time.Minute).Format(time.RFC3339), "eventSource": "ec2.amazonaws.com", "eventName": "CreateSubnet",
		"awsRegion": "eu-west-1", "eventID": "e-1", "readOnly": false, "recipientAccountId": account, "eventType": "AwsApiCall",
		"userIdentity": map[string]any{
			"type": "AssumedRole", "arn": "arn:aws:sts::" + account + ":assumed-role/deploy/run-41", "accountId": account,
			"sessionContext": map[string]any{"sessionIssuer": map[string]any{"type": "Role", "arn": role, "userName": "deploy"}},
		},
	}
	if change != nil {
		change(e)
	}
	return e
}

// session is the identity of a session of the role.
func session(name string) map[string]any {
	e := trailEvent(nil)["userIdentity"].(map[string]any)
	e["arn"] = "arn:aws:sts::" + account + ":assumed-role/deploy/" + name
	return e
}

func with(kv ...any) func(map[string]any) {
	return func(e map[string]any) {
		for i := 0; i < len(kv); i += 2 {
			e[kv[i].(string)] = kv[i+1]
		}
	}
}

// history stands in for AWS: it answers LookupEvents and GetCallerIdentity as their references document, from pages by region,
// and keeps what it was asked.
type history struct {
	*httptest.Server
	pages  map[string][][]map[string]any // of writes, by region
	reads  map[string][]map[string]any   // by region
	fails  map[string]string             // by region: the code that it refuses with
	caller string
	mu     sync.Mutex
	asked  []string
}

func newHistory(t *testing.T) *history {
	h := &history{caller: account}
	h.reads = map[string][]map[string]any{"us-east-1": {trailEvent(with("eventSource", "sts.amazonaws.com", "eventName", "GetCallerIdentity", "readOnly", true))}}
	h.Server = httptest.NewServer(http.HandlerFunc(h.answer))
	t.Cleanup(h.Close)
	return h
}

func (h *history) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	signed := strings.Split(r.Header.Get("Authorization"), "/") // Credential=ID/DATE/REGION/SERVICE/aws4_request
	if len(signed) < 5 || !strings.HasPrefix(signed[0], "AWS4-HMAC-SHA256 Credential=AKID") {
		http.Error(w, "not signed", http.StatusForbidden)
		return
	}
	h.mu.Lock()
	h.asked = append(h.asked, signed[2]+" "+signed[3]+" "+r.Header.Get("X-Amz-Target"))
	h.mu.Unlock()
	if signed[3] == "sts" {
		_, _ = fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::%s:user/ana</Arn><UserId>AIDA</UserId><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, h.caller, h.caller)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if code := h.fails[signed[2]]; code != "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"User: arn:aws:iam::%s:user/ana is not authorized"}`, code, account)
		return
	}
	var in struct {
		NextToken        string
		StartTime        float64
		LookupAttributes []map[string]string
	}
	if json.Unmarshal(body, &in) != nil || len(in.LookupAttributes) != 1 || in.LookupAttributes[0]["AttributeKey"] != "ReadOnly" || in.StartTime != float64(began.Unix()) {
		http.Error(w, `{"__type":"InvalidParameter"}`, http.StatusBadRequest)
		return
	}
	n := 0
	_, _ = fmt.Sscanf(in.NextToken, "page-%d", &n)
	var out struct {
		Events    []map[string]any
		NextToken string `json:",omitempty"`
	}
	out.Events = []map[string]any{}
	pages := h.pages[signed[2]]
	if in.LookupAttributes[0]["AttributeValue"] == "true" {
		pages = [][]map[string]any{h.reads[signed[2]]}
	}
	if n < len(pages) {
		for _, e := range pages[n] {
			raw, _ := json.Marshal(e)
			out.Events = append(out.Events, map[string]any{"EventId": e["eventID"], "EventName": e["eventName"], "CloudTrailEvent": string(raw),
				"Resources": []map[string]any{{"ResourceType": "AWS::EC2::Subnet", "ResourceName": "subnet-" + fmt.Sprint(e["eventID"])}}})
		}
		if n+1 < len(pages) {
			out.NextToken = fmt.Sprintf("page-%d", n+1)
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// look reads as an operator does whose tools point at the server.
func (h *history) look(t *testing.T, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	env := steps.Env{Dir: t.TempDir(), Now: func() time.Time { return began.Add(2 * time.Hour) }, Environ: []string{
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=" + strings.Repeat("s", 40), "AWS_REGION=eu-west-1", "AWS_ENDPOINT_URL=" + h.URL,
	}}
	out := stepstest.NewSink()
	obs, err := stepstest.Observe(t.Context(), Kinds()[0].Reads(env), Kinds()[0].Facts, in, out)
	return obs, out, err
}

func asks(kv ...any) steps.Params {
	in := steps.Params{"principal": steps.StringOf(role), "since": steps.TimeOf(began), "ended": steps.TimeOf(began.Add(20 * time.Minute)), "delay": steps.DurationOf(15 * time.Minute)}
	for i := 0; i < len(kv); i += 2 {
		in[kv[i].(string)] = kv[i+1].(steps.Value)
	}
	return in
}

func wants(t *testing.T, obs steps.Observation, want map[string]string) {
	t.Helper()
	for name, text := range want {
		switch v := obs.Facts[name]; {
		case text == "?" && v.Known(), text != "?" && (!v.Known() || !strings.Contains(v.Text(), text)):
			t.Errorf("%s = %q (%s), want %s", name, v.Text(), v.Why(), text)
		}
	}
}

// TestHistory asks the stand-in what the history of a run holds, and when its silence counts.
func TestHistory(t *testing.T) {
	t.Parallel()
	pad := func(n int) []map[string]any {
		var out []map[string]any
		for i := range n {
			out = append(out, trailEvent(with("eventID", fmt.Sprintf("other-%d", i), "userIdentity", map[string]any{"arn": "arn:aws:iam::" + account + ":user/ben"})))
		}
		return out
	}
	for name, tc := range map[string]struct {
		eu, us [][]map[string]any
		in     steps.Params
		fails  map[string]string
		want   map[string]string
	}{
		"none": {eu: [][]map[string]any{pad(50), pad(3)}, in: asks(), want: map[string]string{"mutated": "none", "writes": "0", "regions": `["eu-west-1" "us-east-1"]`, "account": account, "counts_at": "09:35"}},
		"a write on the second page": {eu: [][]map[string]any{pad(50), {trailEvent(nil)}}, in: asks(),
			want: map[string]string{"mutated": "seen", "writes": "1", "calls": "ec2:CreateSubnet subnet-e-1 (e-1)", "sessions": "run-41=1", "first": "09:05"}},
		"a write in the region of global services": {us: [][]map[string]any{{trailEvent(with("eventSource", "iam.amazonaws.com", "eventName", "AttachRolePolicy"))}}, in: asks(),
			want: map[string]string{"mutated": "seen", "calls": "iam:AttachRolePolicy"}},
		"one page twice":           {eu: [][]map[string]any{{trailEvent(nil)}, {trailEvent(nil)}}, in: asks(), want: map[string]string{"writes": "1"}},
		"before the run":           {eu: [][]map[string]any{{trailEvent(with("eventTime", began.Add(-time.Second).Format(time.RFC3339)))}}, in: asks(), want: map[string]string{"mutated": "none"}},
		"a session without a call": {eu: [][]map[string]any{{trailEvent(nil)}}, in: asks("session", steps.StringOf("run-40")), want: map[string]string{"mutated": "?", "writes": "0"}},
		"another session wrote":    {eu: [][]map[string]any{{trailEvent(nil), trailEvent(with("eventID", "e-2", "errorCode", "Client.UnauthorizedOperation", "userIdentity", session("run-40")))}}, in: asks("session", steps.StringOf("run-40")), want: map[string]string{"mutated": "none", "refused": "1"}},
		"its session":              {eu: [][]map[string]any{{trailEvent(nil)}}, in: asks("session", steps.StringOf("run-41")), want: map[string]string{"mutated": "seen"}},
		"the session as principal": {eu: [][]map[string]any{{trailEvent(nil)}}, in: asks("principal", steps.StringOf("arn:aws:sts::"+account+":assumed-role/deploy/run-41")), want: map[string]string{"mutated": "seen"}},
		"a role of another name":   {eu: [][]map[string]any{{trailEvent(nil)}}, in: asks("principal", steps.StringOf("arn:aws:iam::"+account+":role/deploy-dev")), want: map[string]string{"mutated": "?", "writes": "0"}},
		"refused":                  {eu: [][]map[string]any{{trailEvent(with("errorCode", "Client.UnauthorizedOperation"))}}, in: asks(), want: map[string]string{"mutated": "none", "refused": "1", "throttled": "0"}},
		"throttled":                {eu: [][]map[string]any{{trailEvent(with("errorCode", "Client.RequestLimitExceeded"))}}, in: asks(), want: map[string]string{"mutated": "none", "throttled": "1"}},
		"failed in the service":    {eu: [][]map[string]any{{trailEvent(with("errorCode", "Server.InternalError"))}}, in: asks(), want: map[string]string{"mutated": "?", "writes": "0"}},
		"too early":                {in: asks("ended", steps.TimeOf(began.Add(110*time.Minute))), want: map[string]string{"mutated": "?", "writes": "0"}},
		"a delay that is too short": {in: asks("ended", steps.TimeOf(began.Add(110*time.Minute)), "delay", steps.DurationOf(time.Second)),
			want: map[string]string{"mutated": "?"}},
		"not ended":            {in: asks("ended", steps.TimeOf(time.Time{})), want: map[string]string{"mutated": "?", "counts_at": "?"}},
		"one region is denied": {fails: map[string]string{"us-east-1": "AccessDeniedException"}, in: asks(), want: map[string]string{"mutated": "?", "writes": "?", "regions": "eu-west-1", "at_least": "0"}},
		"denied, and a write":  {eu: [][]map[string]any{{trailEvent(nil)}}, fails: map[string]string{"us-east-1": "AccessDeniedException"}, in: asks(), want: map[string]string{"mutated": "seen", "writes": "?", "at_least": "1"}},
		"a record of no form":  {eu: [][]map[string]any{{{"eventID": "odd"}}}, in: asks(), want: map[string]string{"mutated": "?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			h.pages = map[string][][]map[string]any{"eu-west-1": tc.eu, "us-east-1": tc.us}
			h.fails = tc.fails
			obs, out, err := h.look(t, tc.in)
			if err != nil {
				t.Fatal(err)
			}
			wants(t, obs, tc.want)
			if tc.want["mutated"] == "seen" && !strings.Contains(out.Artifacts["records"].String(), `"eventName"`) {
				t.Errorf("the record is not kept: %s", out.Artifacts["records"])
			}
			for _, a := range h.asked {
				if !strings.HasSuffix(a, " sts ") && !strings.HasSuffix(a, " cloudtrail "+lookup) {
					t.Errorf("it was asked %q", a)
				}
			}
			if len(out.Secrets) != 1 || out.Secrets[0] != strings.Repeat("s", 40) {
				t.Errorf("secrets %q", out.Secrets)
			}
		})
	}
}

// TestHistoryRefuses: the wrong account, the wrong words and missing rights are errors that say what to do.
func TestHistoryRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*history)
		in     steps.Params
		want   string
	}{
		"another account": {func(h *history) { h.caller = "999988887777" }, asks(), "sign in there"},
		"denied": {func(h *history) {
			h.fails = map[string]string{"eu-west-1": "AccessDeniedException", "us-east-1": "AccessDeniedException"}
		}, asks(), "ask for cloudtrail:LookupEvents"},
		"expired": {func(h *history) {
			h.fails = map[string]string{"eu-west-1": "ExpiredTokenException", "us-east-1": "ExpiredTokenException"}
		}, asks(), "sign in again"},
		"no ARN":     {func(*history) {}, asks("principal", steps.StringOf("deploy@lab.invalid")), "save its records"},
		"no time":    {func(*history) {}, asks("since", steps.TimeOf(time.Time{})), "say when the run began"},
		"to come":    {func(*history) {}, asks("since", steps.TimeOf(began.Add(9*time.Hour))), "has not come yet"},
		"ends first": {func(*history) {}, asks("ended", steps.TimeOf(began.Add(-time.Hour))), "cannot end before"},
		"a region":   {func(*history) {}, asks("regions", steps.StringOf("eu-west-1 "+strings.Repeat("x", 50))), "is no region"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			tc.change(h)
			if _, _, err := h.look(t, tc.in); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// savedFiles are records as the tools of three clouds print them, composed after their documentation.
func savedFiles() map[string]string {
	event, _ := json.Marshal(trailEvent(nil))
	quoted, _ := json.Marshal(string(event))
	google := func(log, status string) string {
		return `[{"insertId":"g-1","logName":"projects/p/logs/cloudaudit.googleapis.com%2F` + log + `","timestamp":"2026-03-02T09:05:00.123Z","protoPayload":{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","serviceName":"compute.googleapis.com","methodName":"v1.compute.subnetworks.insert","resourceName":"projects/p/regions/r/subnetworks/s","authenticationInfo":{"principalEmail":"deploy@p.iam.gserviceaccount.com"},"status":` + status + `}}]`
	}
	azure := func(status, sub string) string {
		return `{"caller":"ci@lab.invalid","eventDataId":"a-` + status + `","correlationId":"c-1","eventTimestamp":"2026-03-02T09:05:00.5Z","category":{"value":"Administrative"},"operationName":{"value":"Microsoft.Network/virtualNetworks/subnets/write"},"resourceId":"/subscriptions/0/subnets/s","status":{"value":"` + status + `"},"subStatus":{"value":"` + sub + `"}}`
	}
	return map[string]string{
		"lookup-events":      `{"Events":[{"EventId":"e-1","CloudTrailEvent":` + string(quoted) + `}]}`,
		"delivered":          `{"Records":[` + string(event) + `]}`,
		"google":             google("activity", "{}"),
		"google denied":      google("activity", `{"code":7}`),
		"google deadline":    google("activity", `{"code":4}`),
		"google data access": google("data_access", "{}"),
		"azure":              `[` + azure("Started", "") + `,` + azure("Succeeded", "Created") + `]`,
		"azure conflict":     `[` + azure("Started", "") + `,` + azure("Failed", "Conflict") + `]`,
		"azure failed":       `[` + azure("Accepted", "Accepted") + `,` + azure("Failed", "") + `]`,
		"empty":              `[]`,
		"no records":         `{"Items":[]}`,
		"no JSON":            `Records`,
	}
}

// TestSaved: a file proves a write, and never that there was none.
func TestSaved(t *testing.T) {
	t.Parallel()
	files := savedFiles()
	for name, tc := range map[string]struct {
		by, want, at, err string
	}{
		"lookup-events":      {by: role, want: "seen", at: "1"},
		"delivered":          {by: role, want: "seen", at: "1"},
		"google":             {by: "deploy@p.iam.gserviceaccount.com", want: "seen", at: "1"},
		"google denied":      {by: "deploy@p.iam.gserviceaccount.com", want: "?", at: "0"},
		"google deadline":    {by: "deploy@p.iam.gserviceaccount.com", want: "?", at: "0"},
		"google data access": {by: "deploy@p.iam.gserviceaccount.com", want: "?", at: "0"},
		"azure":              {by: "CI@lab.invalid", want: "seen", at: "1"},
		"azure conflict":     {by: "ci@lab.invalid", want: "?", at: "0"},
		"azure failed":       {by: "ci@lab.invalid", want: "?", at: "0"},
		"empty":              {by: role, err: "an empty list"},
		"no records":         {by: role, err: "has no records"},
		"no JSON":            {by: role, err: "has no records"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "records.json")
			if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
				t.Fatal(err)
			}
			out := stepstest.NewSink()
			env := steps.Env{Now: func() time.Time { return began.Add(2 * time.Hour) }}
			obs, err := stepstest.Observe(t.Context(), Kinds()[0].Reads(env), Kinds()[0].Facts, asks("file", steps.PathOf(path), "principal", steps.StringOf(tc.by)), out)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wants(t, obs, map[string]string{"mutated": tc.want, "at_least": tc.at, "writes": "?", "account": "?"})
		})
	}
}

func FuzzSaved(f *testing.F) {
	for _, text := range savedFiles() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		records, _, err := saved(raw)
		if err != nil {
			return
		}
		got := count(records, role, "", began)
		facts := steps.NewFacts(writesFacts())
		got.tell(facts, "a file", "")
		if v := facts.Got("mutated"); v.Known() && v.Text() == "none" {
			t.Errorf("a file says none: %q", raw)
		}
	})
}
