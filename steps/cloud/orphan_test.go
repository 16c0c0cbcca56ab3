package cloud

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// ask reads one kind from a server that stands in for AWS and answers as its reference documents.
func ask(t *testing.T, kind string, answer http.HandlerFunc, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	env := steps.Env{Dir: t.TempDir(), Now: func() time.Time { return began.Add(2 * time.Hour) }, Environ: []string{
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=" + strings.Repeat("s", 40), "AWS_REGION=eu-west-1", "AWS_ENDPOINT_URL=" + server.URL,
	}}
	k := Kinds()[slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == kind })]
	for _, f := range k.Params {
		if _, given := in[f.Name]; !given && f.Default != "" {
			v, err := steps.ParseValue(f.Type, f.Default)
			if err != nil {
				t.Fatal(err)
			}
			in[f.Name] = v
		}
	}
	out := stepstest.NewSink()
	obs, err := stepstest.Observe(t.Context(), k.Reads(env), k.Facts, in, out)
	return obs, out, err
}

// databases answers DescribeDBInstances ("DescribeDBInstances", Response Elements and Errors).
func databases(list map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		id := form.Get("DBInstanceIdentifier")
		if form.Get("Action") != "DescribeDBInstances" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		if list[id] == "" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>DBInstanceNotFound</Code><Message>DBInstance %s not found.</Message></Error></ErrorResponse>`, id)
			return
		}
		if list[id] == "denied" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>`)
			return
		}
		_, _ = fmt.Fprintf(w, `<DescribeDBInstancesResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><DescribeDBInstancesResult><DBInstances><DBInstance><DBInstanceIdentifier>%s</DBInstanceIdentifier>%s</DBInstance></DBInstances></DescribeDBInstancesResult></DescribeDBInstancesResponse>`, id, list[id])
	}
}

const replicaXML = `<DBInstanceArn>arn:aws:rds:eu-west-1:111122223333:db:copy</DBInstanceArn><DbiResourceId>db-ABC</DbiResourceId><DBInstanceStatus>available</DBInstanceStatus><Engine>mariadb</Engine><EngineVersion>10.11.8</EngineVersion>
<DBInstanceClass>db.r6g.large</DBInstanceClass><AvailabilityZone>eu-west-1b</AvailabilityZone><InstanceCreateTime>2026-02-01T08:00:00Z</InstanceCreateTime><DeletionProtection>false</DeletionProtection>
<Endpoint><Address>copy.abc.eu-west-1.rds.amazonaws.com</Address><Port>3306</Port></Endpoint><ReadReplicaSourceDBInstanceIdentifier>main</ReadReplicaSourceDBInstanceIdentifier>
<StatusInfos><DBInstanceStatusInfo><StatusType>read replication</StatusType><Normal>false</Normal><Status>error</Status><Message>Replica SQL thread: row format</Message></DBInstanceStatusInfo></StatusInfos>
<TagList><Tag><Key>Name</Key><Value>copy-temp</Value></Tag><Tag><Key>owner</Key><Value>data</Value></Tag><Tag><Key>Purpose</Key><Value></Value></Tag></TagList>`

// TestDatabase: a replica, its source, and what is not told of them.
func TestDatabase(t *testing.T) {
	t.Parallel()
	source := `<DBInstanceStatus>available</DBInstanceStatus><AvailabilityZone>eu-west-1a</AvailabilityZone><ReadReplicaDBInstanceIdentifiers><ReadReplicaDBInstanceIdentifier>copy</ReadReplicaDBInstanceIdentifier></ReadReplicaDBInstanceIdentifiers>`
	for name, tc := range map[string]struct {
		of   string
		list map[string]string
		want map[string]string
		err  string
	}{
		"a replica": {"copy", map[string]string{"copy": replicaXML, "main": source}, map[string]string{"exists": "true", "replica": "true", "source": "main", "source_zone": "eu-west-1a", "cross_zone": "true",
			"replication": "error", "replication_error": "row format", "untagged": `["Purpose" "ExpiresAt"]`, "protected": "false", "endpoint": "copy.abc", "replicas": "[]"}, ""},
		"the source":               {"main", map[string]string{"main": source}, map[string]string{"replica": "false", "source_zone": "?", "cross_zone": "?", "replicas": "copy", "untagged": "Owner", "protected": "?"}, ""},
		"the source is denied":     {"copy", map[string]string{"copy": replicaXML, "main": "denied"}, map[string]string{"exists": "true", "cross_zone": "?"}, ""},
		"a source of another zone": {"copy", map[string]string{"copy": strings.Replace(replicaXML, ">main<", ">arn:aws:rds:us-east-1:1:db:main<", 1)}, map[string]string{"replica": "true", "cross_zone": "?"}, ""},
		"gone":                     {"copy", nil, map[string]string{"exists": "false", "arn": "?", "replica": "?"}, ""},
		"denied":                   {"copy", map[string]string{"copy": "denied"}, nil, "ask for rds:DescribeDBInstances"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs, _, err := ask(t, "cloud/database", databases(tc.list), steps.Params{"instance": steps.StringOf(tc.of)})
			if tc.err != "" || err != nil {
				if tc.err == "" || err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			wants(t, obs, tc.want)
		})
	}
}

// metrics answers GetMetricData in two pages (Smithy RPC v2 CBOR).
func metrics(values []float64, at func(int) time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		in, err := cbor.Decode(raw)
		if err != nil || r.URL.Path != strings.TrimPrefix(metricData, "POST ") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		from, to := 0, len(values)/2
		out := cbor.Map{"NextToken": cbor.String("more")}
		if _, second := in.(cbor.Map)["NextToken"]; second {
			from, to, out = to, len(values), cbor.Map{}
		}
		times, list := cbor.List{}, cbor.List{}
		for i := from; i < to; i++ {
			times, list = append(times, &cbor.Tag{ID: 1, Value: cbor.Float64(at(i).Unix())}), append(list, cbor.Float64(values[i]))
		}
		out["MetricDataResults"] = cbor.List{cbor.Map{"Id": cbor.String("m"), "StatusCode": cbor.String("Complete"), "Timestamps": times, "Values": list}}
		w.Header().Set("Content-Type", "application/cbor")
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		_, _ = w.Write(cbor.Encode(out))
	}
}

// TestMetric: zero is said only of a range without a gap, and a sawtooth is told from noise.
func TestMetric(t *testing.T) {
	t.Parallel()
	hour := func(i int) time.Time {
		return began.Add(2 * time.Hour).Truncate(time.Minute).Add(-time.Hour + time.Duration(i)*time.Minute)
	}
	fill := func(n int, of func(int) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = of(i)
		}
		return out
	}
	for name, tc := range map[string]struct {
		values []float64
		want   map[string]string
	}{
		"zero throughout":  {fill(60, func(int) float64 { return 0 }), map[string]string{"points": "60", "missing": "0", "zero": "true", "shape": "flat", "last_nonzero_at": "?"}},
		"the newest lacks": {fill(58, func(int) float64 { return 0 }), map[string]string{"missing": "0", "zero": "true"}},
		"zero with a gap":  {fill(50, func(int) float64 { return 0 }), map[string]string{"missing": "8", "zero": "?"}},
		"one connection": {fill(60, func(i int) float64 {
			if i == 20 {
				return 1
			}
			return 0
		}), map[string]string{"zero": "false", "most": "1000", "shape": "other", "last_nonzero_at": hour(20).Format("15:04")}},
		"a sawtooth": {fill(60, func(i int) float64 { return []float64{0.5, 30}[i%2] }), map[string]string{"shape": "sawtooth", "least": "500", "most": "30000", "swings": "59"}},
		"flat":       {fill(60, func(i int) float64 { return 10 + float64(i%2)/2 }), map[string]string{"shape": "flat", "zero": "false"}},
		"none":       {nil, map[string]string{"absent": "true", "zero": "?", "shape": "?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs, out, err := ask(t, "cloud/metric", metrics(tc.values, hour), steps.Params{"namespace": steps.StringOf("AWS/RDS"), "metric": steps.StringOf("DatabaseConnections"),
				"dimension": steps.StringOf("DBInstanceIdentifier=copy"), "since": steps.DurationOf(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			wants(t, obs, tc.want)
			if out.Artifacts["points"].Len() == 0 {
				t.Error("the points are not kept")
			}
		})
	}
}

// costs answers GetCostAndUsage ("GetCostAndUsage", Response Syntax).
func costs(days int, of func(day int) map[string]float64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			TimePeriod struct{ Start string }
			GroupBy    []struct{ Key string }
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || r.Header.Get("X-Amz-Target") != costAndUsage || len(in.GroupBy) != 1 || in.GroupBy[0].Key != "USAGE_TYPE" {
			http.Error(w, `{"__type":"ValidationException"}`, http.StatusBadRequest)
			return
		}
		begin, _ := time.Parse(time.DateOnly, in.TimePeriod.Start)
		var list []map[string]any
		for i := range days {
			groups := []map[string]any{}
			for name, amount := range of(i) {
				groups = append(groups, map[string]any{"Keys": []string{name}, "Metrics": map[string]any{"UnblendedCost": map[string]string{"Amount": fmt.Sprint(amount), "Unit": "USD"}}})
			}
			list = append(list, map[string]any{"Estimated": i >= days-2, "TimePeriod": map[string]string{"Start": begin.AddDate(0, 0, i).Format(time.DateOnly), "End": begin.AddDate(0, 0, i+1).Format(time.DateOnly)}, "Groups": groups})
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(map[string]any{"ResultsByTime": list})
	}
}

// TestCost finds the usage type that rose, since when, with the figures of a bill that went from 3,200 to 11,800 a month in six days.
func TestCost(t *testing.T) {
	t.Parallel()
	spike := func(day int) map[string]float64 {
		m := map[string]float64{"EUW1-BoxUsage:m6i.large": 70, "EUW1-InstanceUsage:db.r6g": 30, "EUW1-DataTransfer-Regional-Bytes": 6.7}
		if day >= 24 {
			m["EUW1-DataTransfer-Regional-Bytes"] += 230
			m["EUW1-InstanceUsage:db.r6g"] += 56.7
		}
		return m
	}
	for name, tc := range map[string]struct {
		days int
		of   func(int) map[string]float64
		want map[string]string
		err  string
	}{
		"a spike":       {30, spike, map[string]string{"top": "DataTransfer-Regional-Bytes", "began": "2026-02-24", "before": "106700", "now": "393400", "estimated": "true", "currency": "USD", "days": "30"}, ""},
		"as before":     {30, func(int) map[string]float64 { return map[string]float64{"a": 1} }, map[string]string{"top": "?", "risen": "[]", "before": "1000", "now": "1000"}, ""},
		"a day lacks":   {29, spike, nil, "29 of 30 days"},
		"a newer meter": {30, func(d int) map[string]float64 { return map[string]float64{"a": 1, fmt.Sprintf("day-%d", d): 5} }, map[string]string{"top": "day-"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs, _, err := ask(t, "cloud/cost", costs(tc.days, tc.of), steps.Params{})
			if tc.err != "" || err != nil {
				if tc.err == "" || err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			wants(t, obs, tc.want)
		})
	}
}
