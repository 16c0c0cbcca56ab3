package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

const mostFile = 64 << 20

// errForm says that a file is none of those that are read.
var errForm = errors.New("it has no records: give what aws cloudtrail lookup-events, gcloud logging read --format json or az monitor activity-log list printed, or a file that a trail delivered, unpacked")

// saved reads records that were saved, whichever of the clouds wrote them. odd counts those that cannot be read.
func saved(raw []byte) (records []record, odd int, err error) {
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("\xef\xbb\xbf"))
	var list []json.RawMessage
	switch {
	case len(raw) > 0 && raw[0] == '[':
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, 0, errForm
		}
		if len(list) == 0 {
			return nil, 0, errors.New("it is an empty list: which log it is of and whether that was read whole is not in it")
		}
	default:
		var in struct {
			Records []json.RawMessage `json:"Records"` // what a trail delivers
			Events  []struct {        // lookup-events
				CloudTrailEvent string `json:"CloudTrailEvent"`
			} `json:"Events"`
		}
		if json.Unmarshal(raw, &in) != nil || in.Records == nil && in.Events == nil {
			return nil, 0, errForm
		}
		list = in.Records
		for _, e := range in.Events {
			list = append(list, json.RawMessage(e.CloudTrailEvent))
		}
	}
	for _, one := range list {
		read := false
		for _, of := range []func(json.RawMessage) (record, bool){ofTrail, ofGoogle, ofAzure} {
			if r, ok := of(one); ok {
				records, read = append(records, r), true
				break
			}
		}
		if !read {
			odd++
		}
	}
	if len(records) == 0 && odd > 0 {
		return nil, odd, errForm
	}
	return records, odd, nil
}

// ofGoogle reads a LogEntry whose payload is an AuditLog ("Understanding audit logs"). Admin Activity has the writes; what is
// in data_access reads, or writes data, and its permission says which.
func ofGoogle(raw json.RawMessage) (r record, ok bool) {
	var in struct {
		InsertID  string `json:"insertId"`
		LogName   string `json:"logName"`
		Timestamp string `json:"timestamp"`
		Payload   struct {
			Type           string `json:"@type"`
			ServiceName    string `json:"serviceName"`
			MethodName     string `json:"methodName"`
			ResourceName   string `json:"resourceName"`
			Authentication struct {
				Email   string `json:"principalEmail"`
				Subject string `json:"principalSubject"`
			} `json:"authenticationInfo"`
			Status struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"status"`
		} `json:"protoPayload"`
		Operation struct {
			ID string `json:"id"`
		} `json:"operation"`
	}
	if json.Unmarshal(raw, &in) != nil || !strings.HasSuffix(in.Payload.Type, "google.cloud.audit.AuditLog") || in.Payload.MethodName == "" {
		return record{}, false
	}
	at, err := time.Parse(time.RFC3339, in.Timestamp)
	if err != nil {
		return record{}, false
	}
	service, _, _ := strings.Cut(in.Payload.ServiceName, ".")
	r = record{
		id: in.InsertID, at: at.UTC(), service: service, call: in.Payload.MethodName, by: in.Payload.Authentication.Email, op: in.Operation.ID, raw: raw,
		reads: !strings.HasSuffix(in.LogName, "cloudaudit.googleapis.com%2Factivity") && !strings.HasSuffix(in.LogName, "cloudaudit.googleapis.com/activity"),
	}
	if r.by == "" {
		r.by = in.Payload.Authentication.Subject
	}
	if in.Payload.ResourceName != "" {
		r.resources = []string{in.Payload.ResourceName}
	}
	if code := in.Payload.Status.Code; code != 0 {
		r.failed = googleRefusals[code]
		if r.failed == "" {
			r.failed, r.unclear = "code "+strconv.Itoa(code), true
		}
	}
	return r, true
}

// googleRefusals are the codes of google.rpc.Code by which a service says that it did nothing. A deadline, an internal error
// and the like say nothing of that.
var googleRefusals = map[int]string{
	3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED",
	9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED", 16: "UNAUTHENTICATED",
}

// azureRefusals are the sub-statuses, HTTP statuses by name, with which nothing was done. What fails otherwise may stand there
// half made.
var azureRefusals = []string{"BadRequest", "Unauthorized", "Forbidden", "NotFound", "MethodNotAllowed", "Conflict", "PreconditionFailed", "TooManyRequests"}

// ofAzure reads an event of the activity log ("Azure activity log event schema", Administrative category). It has writes,
// deletions and actions, and no reads. A call is recorded when it starts and when it ends, under one correlation id.
func ofAzure(raw json.RawMessage) (r record, ok bool) {
	type named struct {
		Value string `json:"value"`
	}
	var in struct {
		Caller        string `json:"caller"`
		EventDataID   string `json:"eventDataId"`
		EventTime     string `json:"eventTimestamp"`
		Operation     named  `json:"operationName"`
		Status        named  `json:"status"`
		SubStatus     named  `json:"subStatus"`
		Category      named  `json:"category"`
		ResourceID    string `json:"resourceId"`
		CorrelationID string `json:"correlationId"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Operation.Value == "" || in.EventTime == "" {
		return record{}, false
	}
	at, err := time.Parse(time.RFC3339, in.EventTime)
	if err != nil {
		return record{}, false
	}
	service, call, cut := strings.Cut(in.Operation.Value, "/")
	if !cut {
		service, call = "", in.Operation.Value
	}
	r = record{
		id: in.EventDataID, at: at.UTC(), service: service, call: call, by: in.Caller, raw: raw,
		reads: in.Category.Value != "" && in.Category.Value != "Administrative",
	}
	if in.ResourceID != "" {
		r.resources = []string{in.ResourceID}
	}
	if in.CorrelationID != "" {
		r.op = in.CorrelationID + " " + in.Operation.Value + " " + in.ResourceID
	}
	if in.Status.Value == "Failed" {
		r.failed, r.unclear = in.SubStatus.Value, !slices.Contains(azureRefusals, in.SubStatus.Value)
		if r.failed == "" {
			r.failed = "Failed"
		}
	}
	return r, true
}
