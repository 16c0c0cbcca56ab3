package aws

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

const (
	deleting = 2 * time.Second // how long a deletion takes here
	metrics  = "/service/GraniteServiceVersion20100801/operation/GetMetricData"
)

// standIn is the server.
type standIn struct {
	keys map[string]string // names by access key
	log  io.Writer
	now  func() time.Time

	mu      sync.Mutex
	read    func() (World, error)
	world   World                // as it was read for the request that is answered
	deleted map[string]time.Time // when the deletion of an instance began
	serial  int
	events  []Write
}

// New is the server of a world, which is read for each request. Writes go to log, one [Write] in each line; without keys any access
// key is taken.
func New(read func() (World, error), keys map[string]string, log io.Writer, now func() time.Time) http.Handler {
	return &standIn{keys: keys, log: log, now: now, read: read, deleted: map[string]time.Time{}}
}

// who is the name of the access key that signed a request.
func (s *standIn) who(req *http.Request) (string, bool) {
	_, rest, _ := strings.Cut(req.Header.Get("Authorization"), "Credential=")
	id, _, _ := strings.Cut(rest, "/")
	if s.keys == nil {
		return id, id != ""
	}
	name, known := s.keys[id]
	return name, known
}

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(req.Body, largestBody))
	if err != nil {
		return // the caller is gone
	}
	if s.world, err = s.read(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.serial++
	id := fmt.Sprintf("%08x-0000-4000-8000-%012x", s.now().Unix(), s.serial)
	w.Header().Set("x-amzn-RequestId", id)
	who, known := s.who(req)
	target := req.Header.Get("X-Amz-Target")
	switch {
	case req.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case req.URL.Path == metrics:
		s.metric(w, body, known)
	case target != "":
		_, operation, _ := strings.Cut(target, ".")
		s.target(w, operation, body, known)
	default:
		form, _ := url.ParseQuery(string(body))
		s.query(w, req, form, who, known, id)
	}
}

func (s *standIn) denied(operation string) bool { return slices.Contains(s.world.Denied, operation) }

// fault is an error of the query protocol.
func fault(w http.ResponseWriter, status int, code, says, id string) int {
	var text bytes.Buffer
	_ = xml.EscapeText(&text, []byte(says)) // a buffer takes all
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`, code, text.String(), id)
	return status
}

// query answers the query protocol: RDS and STS.
func (s *standIn) query(w http.ResponseWriter, req *http.Request, form url.Values, who string, known bool, id string) {
	operation, object := form.Get("Action"), form.Get("DBInstanceIdentifier")
	answer := func(body string) {
		w.Header().Set("Content-Type", "text/xml")
		_, _ = fmt.Fprintf(w, `<%sResponse><%sResult>%s</%sResult><ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%sResponse>`, operation, operation, body, operation, id, operation)
	}
	switch {
	case !known:
		fault(w, http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid.", id)
	case s.denied(operation):
		fault(w, http.StatusForbidden, "AccessDenied", "User: arn:aws:iam::"+s.world.Account+":user/"+who+" is not authorized to perform: rds:"+operation, id)
	case operation == "GetCallerIdentity":
		answer(fmt.Sprintf(`<Arn>arn:aws:iam::%s:user/%s</Arn><UserId>AIDA</UserId><Account>%s</Account>`, s.world.Account, who, s.world.Account))
	case operation == "DescribeDBInstances":
		i, found := s.instance(object)
		if !found {
			fault(w, http.StatusNotFound, "DBInstanceNotFound", "DBInstance "+object+" not found.", id)
			return
		}
		answer("<DBInstances>" + s.document(i) + "</DBInstances>")
	case operation == "DescribeDBSnapshots":
		s.snapshots(w, form.Get("DBSnapshotIdentifier"), id, answer)
	case operation == "DeleteDBInstance":
		status := s.remove(w, form, id, answer)
		entry := Write{At: s.now().UTC(), Operation: operation, Object: object, Who: who, Agent: req.UserAgent(), ID: id, Status: status}
		if status == http.StatusOK {
			s.events = append(s.events, entry)
		}
		if raw, err := json.Marshal(entry); err == nil && s.log != nil {
			_, _ = s.log.Write(append(raw, '\n')) // a walk without it fails
		}
	default:
		fault(w, http.StatusNotFound, "UnknownOperationException", "This stand-in does not have it.", id)
	}
}

// instance finds one; one whose deletion is over is gone.
func (s *standIn) instance(id string) (Instance, bool) {
	for _, i := range s.world.Instances {
		if strings.EqualFold(i.ID, id) && !s.gone(i.ID) {
			return i, true
		}
	}
	return Instance{}, false
}

func (s *standIn) gone(id string) bool {
	at, begun := s.deleted[id]
	return begun && s.now().Sub(at) >= deleting
}

// document is an instance as DescribeDBInstances has it.
func (s *standIn) document(i Instance) string {
	type tag struct{ Key, Value string }
	type info struct {
		StatusType string
		Normal     bool
		Status     string
		Message    string `xml:",omitempty"`
	}
	out := struct {
		XMLName                               xml.Name `xml:"DBInstance"`
		DBInstanceIdentifier                  string
		DBInstanceArn                         string
		DbiResourceId                         string
		DBInstanceStatus                      string
		Engine, EngineVersion                 string
		DBInstanceClass                       string
		AvailabilityZone                      string
		InstanceCreateTime                    string
		DeletionProtection                    bool
		BackupRetentionPeriod                 int
		Address                               string   `xml:"Endpoint>Address"`
		Port                                  int      `xml:"Endpoint>Port"`
		ReadReplicaSourceDBInstanceIdentifier string   `xml:",omitempty"`
		Replicas                              []string `xml:"ReadReplicaDBInstanceIdentifiers>ReadReplicaDBInstanceIdentifier"`
		StatusInfos                           []info   `xml:"StatusInfos>DBInstanceStatusInfo"`
		TagList                               []tag    `xml:"TagList>Tag"`
	}{
		DBInstanceIdentifier: i.ID, DBInstanceArn: s.world.ARN(i.ID), DbiResourceId: i.Resource, DBInstanceStatus: "available", Engine: i.Engine, EngineVersion: i.Version,
		DBInstanceClass: i.Class, AvailabilityZone: i.Zone, InstanceCreateTime: s.now().AddDate(0, 0, -i.Days).UTC().Format(time.RFC3339), DeletionProtection: i.Protected,
		Address: s.world.Host(i.ID), Port: 3306, ReadReplicaSourceDBInstanceIdentifier: i.Source,
	}
	if _, begun := s.deleted[i.ID]; begun {
		out.DBInstanceStatus = "deleting"
	}
	for _, r := range i.Replicas {
		if !s.gone(r) {
			out.Replicas = append(out.Replicas, r)
		}
	}
	if i.Source != "" { // "DBInstanceStatusInfo"
		out.StatusInfos = []info{{StatusType: "read replication", Normal: i.Error == "", Status: "replicating"}}
		if i.Error != "" {
			out.StatusInfos[0].Status, out.StatusInfos[0].Message = "error", i.Error
		}
	}
	for _, k := range slices.Sorted(maps.Keys(i.Tags)) {
		out.TagList = append(out.TagList, tag{k, i.Tags[k]})
	}
	raw, err := xml.Marshal(out)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (s *standIn) snapshots(w http.ResponseWriter, name, id string, answer func(string)) {
	for _, snap := range s.world.Snapshots {
		if strings.EqualFold(snap.ID, name) {
			answer(fmt.Sprintf(`<DBSnapshots><DBSnapshot><DBSnapshotIdentifier>%s</DBSnapshotIdentifier><DBInstanceIdentifier>%s</DBInstanceIdentifier><DbiResourceId>%s</DbiResourceId><SnapshotType>%s</SnapshotType><Status>%s</Status><SnapshotCreateTime>%s</SnapshotCreateTime></DBSnapshot></DBSnapshots>`,
				snap.ID, snap.Of, snap.Resource, snap.Type, snap.Status, s.now().Add(-time.Duration(snap.Hours)*time.Hour).UTC().Format(time.RFC3339)))
			return
		}
	}
	fault(w, http.StatusNotFound, "DBSnapshotNotFound", "DBSnapshot "+name+" not found.", id)
}

// remove is DeleteDBInstance, with the errors that its reference documents.
func (s *standIn) remove(w http.ResponseWriter, form url.Values, id string, answer func(string)) int {
	name := form.Get("DBInstanceIdentifier")
	i, found := s.instance(name)
	skip := form.Get("SkipFinalSnapshot") == "true"
	_, begun := s.deleted[i.ID]
	switch {
	case !found:
		return fault(w, http.StatusNotFound, "DBInstanceNotFound", "DBInstance "+name+" not found.", id)
	case begun:
		return fault(w, http.StatusBadRequest, "InvalidDBInstanceState", "Instance "+name+" is already being deleted.", id)
	case i.Protected:
		return fault(w, http.StatusBadRequest, "InvalidParameterCombination", "Cannot delete protected DB Instance, please disable deletion protection and try again.", id)
	case i.Source != "" && !skip:
		return fault(w, http.StatusBadRequest, "InvalidParameterCombination", "FinalDBSnapshotIdentifier can not be specified when deleting a read replica.", id)
	case !skip && form.Get("FinalDBSnapshotIdentifier") == "":
		return fault(w, http.StatusBadRequest, "InvalidParameterCombination", "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.", id)
	}
	s.deleted[i.ID] = s.now()
	answer(s.document(i))
	return http.StatusOK
}

// target answers the JSON protocols: Cost Explorer and CloudTrail.
func (s *standIn) target(w http.ResponseWriter, operation string, body []byte, known bool) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	refuse := func(code, says string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": says})
	}
	switch {
	case !known:
		refuse("UnrecognizedClientException", "The security token included in the request is invalid.")
	case s.denied(operation):
		refuse("AccessDeniedException", "not authorized to perform: "+operation)
	case operation == "GetCostAndUsage":
		s.costs(w, body, refuse)
	case operation == "LookupEvents":
		type event struct {
			EventId, EventName, EventSource, Username, CloudTrailEvent string
			EventTime                                                  float64
		}
		out := []event{}
		for _, e := range s.events {
			raw, err := json.Marshal(map[string]any{"eventTime": e.At, "eventName": e.Operation, "eventSource": "rds.amazonaws.com", "awsRegion": s.world.Region, "requestID": e.ID, "readOnly": false,
				"userIdentity":      map[string]string{"type": "IAMUser", "userName": e.Who, "arn": "arn:aws:iam::" + s.world.Account + ":user/" + e.Who},
				"requestParameters": map[string]string{"dBInstanceIdentifier": e.Object}})
			if err != nil {
				continue
			}
			out = append(out, event{e.ID, e.Operation, "rds.amazonaws.com", e.Who, string(raw), float64(e.At.Unix())})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Events": out})
	default:
		refuse("UnknownOperationException", "This stand-in does not have it.")
	}
}

func (s *standIn) costs(w http.ResponseWriter, body []byte, refuse func(code, says string)) {
	var in struct {
		TimePeriod struct{ Start, End string }
		GroupBy    []struct{ Type, Key string }
	}
	err := json.Unmarshal(body, &in)
	begin, bad := time.Parse(time.DateOnly, in.TimePeriod.Start)
	end, worse := time.Parse(time.DateOnly, in.TimePeriod.End)
	if err != nil || bad != nil || worse != nil || len(in.GroupBy) != 1 || in.GroupBy[0].Key != "USAGE_TYPE" {
		refuse("ValidationException", "This stand-in groups by USAGE_TYPE alone.")
		return
	}
	var list []map[string]any
	for day := begin; day.Before(end); day = day.AddDate(0, 0, 1) {
		ago := int(end.Sub(day).Hours() / 24) // 1 for the newest
		groups := []map[string]any{}
		for _, c := range s.world.Costs {
			amount := c.Before
			if ago <= c.Days && (ago > 3 || !s.over(c)) {
				amount = c.Now
			}
			groups = append(groups, map[string]any{"Keys": []string{c.Usage}, "Metrics": map[string]any{"UnblendedCost": map[string]string{"Amount": fmt.Sprint(amount), "Unit": "USD"}}})
		}
		list = append(list, map[string]any{"Estimated": ago <= 2, "TimePeriod": map[string]string{"Start": day.Format(time.DateOnly), "End": day.AddDate(0, 0, 1).Format(time.DateOnly)}, "Groups": groups})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ResultsByTime": list})
}

// over reports whether what raised a cost has ended.
func (s *standIn) over(c Cost) bool {
	if c.Of == "" {
		return false
	}
	one, there := s.instance(c.Of)
	return !there || c.Fault && one.Error == ""
}

// metric is GetMetricData (Smithy RPC v2 CBOR).
func (s *standIn) metric(w http.ResponseWriter, body []byte, known bool) {
	w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
	w.Header().Set("Content-Type", "application/cbor")
	refuse := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(cbor.Encode(cbor.Map{"__type": cbor.String("com.amazonaws.cloudwatch#" + code), "message": cbor.String(code)}))
	}
	switch {
	case !known:
		refuse("InvalidClientTokenId")
		return
	case s.denied("GetMetricData"):
		refuse("AccessDenied")
		return
	}
	q, ok := readQuery(body)
	if !ok {
		refuse("ValidationError")
		return
	}
	times, values := cbor.List{}, cbor.List{}
	now := s.now()
	for _, m := range s.world.Metrics {
		if m.Metric != q.metric || !strings.EqualFold(m.Instance, q.of) || s.gone(m.Instance) {
			continue
		}
		for at := q.from.Truncate(q.period); at.Before(q.to); at = at.Add(q.period) {
			if v, there := m.value(at, now, q.period); there {
				times, values = append(times, &cbor.Tag{ID: 1, Value: cbor.Float64(at.Unix())}), append(values, cbor.Float64(v))
			}
		}
	}
	_, _ = w.Write(cbor.Encode(cbor.Map{"MetricDataResults": cbor.List{cbor.Map{"Id": cbor.String("m"), "StatusCode": cbor.String("Complete"), "Timestamps": times, "Values": values}}}))
}

// query is what GetMetricData is asked for here: one metric of one instance.
type query struct {
	metric, of string
	from, to   time.Time
	period     time.Duration
}

func readQuery(body []byte) (q query, ok bool) {
	raw, err := cbor.Decode(body)
	if err != nil {
		return q, false
	}
	at := func(v cbor.Value, path ...string) cbor.Value {
		for _, key := range path {
			if list, is := v.(cbor.List); is && len(list) == 1 {
				v = list[0]
			}
			m, is := v.(cbor.Map)
			if !is {
				return nil
			}
			v = m[key]
		}
		if list, is := v.(cbor.List); is && len(list) == 1 {
			v = list[0]
		}
		return v
	}
	seconds := func(v cbor.Value) time.Time {
		if t, is := v.(*cbor.Tag); is {
			v = t.Value
		}
		switch n := v.(type) {
		case cbor.Float64:
			return time.Unix(int64(n), 0)
		case cbor.Uint:
			return time.Unix(int64(n), 0)
		}
		return time.Time{}
	}
	name, _ := at(raw, "MetricDataQueries", "MetricStat", "Metric", "MetricName").(cbor.String)
	of, _ := at(raw, "MetricDataQueries", "MetricStat", "Metric", "Dimensions", "Value").(cbor.String)
	period, _ := at(raw, "MetricDataQueries", "MetricStat", "Period").(cbor.Uint)
	q = query{string(name), string(of), seconds(at(raw, "StartTime")), seconds(at(raw, "EndTime")), time.Duration(period) * time.Second}
	return q, q.metric != "" && q.period >= time.Minute && q.from.Before(q.to) && q.to.Sub(q.from)/q.period < 100_000 && !q.from.IsZero()
}
