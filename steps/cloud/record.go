package cloud

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// record is one call as a log has it.
type record struct {
	id        string
	at        time.Time
	service   string // ec2
	call      string // CreateSubnet
	by        string // ARN of the role or user, email, caller
	session   string // of the role, "" where there is none
	account   string // where the call was recorded
	reads     bool   // the log says that it only reads
	op        string // the operation that it is a part of, where one call has several records
	failed    string // error code, "" where it went through
	unclear   bool   // with that code it may have written all the same
	resources []string
	raw       json.RawMessage
}

// trailRecord is a record of CloudTrail ("CloudTrail record contents for management, data, and network activity events").
type trailRecord struct {
	UserIdentity struct {
		Type           string `json:"type"`
		ARN            string `json:"arn"`
		SessionContext struct {
			SessionIssuer struct {
				ARN string `json:"arn"`
			} `json:"sessionIssuer"`
		} `json:"sessionContext"`
	} `json:"userIdentity"`
	EventTime          string `json:"eventTime"`
	EventSource        string `json:"eventSource"`
	EventName          string `json:"eventName"`
	EventID            string `json:"eventID"`
	ErrorCode          string `json:"errorCode"`
	ReadOnly           *bool  `json:"readOnly"`
	RecipientAccountID string `json:"recipientAccountId"`
	Resources          []struct {
		ARN string `json:"ARN"`
	} `json:"resources"`
}

// ofTrail reads one record of CloudTrail. ok is false where it is none.
func ofTrail(raw json.RawMessage) (r record, ok bool) {
	var in trailRecord
	if json.Unmarshal(raw, &in) != nil || in.EventName == "" || in.EventSource == "" {
		return record{}, false
	}
	at, err := time.Parse(time.RFC3339, in.EventTime)
	if err != nil {
		return record{}, false
	}
	service, _, _ := strings.Cut(in.EventSource, ".")
	r = record{
		id: in.EventID, at: at.UTC(), service: service, call: in.EventName, by: in.UserIdentity.ARN, account: in.RecipientAccountID,
		reads: in.ReadOnly != nil && *in.ReadOnly, failed: in.ErrorCode, unclear: serverFailed(in.ErrorCode), raw: raw,
	}
	// The identity of a session is arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION; the role itself is its issuer.
	if issuer := in.UserIdentity.SessionContext.SessionIssuer.ARN; issuer != "" {
		r.session = r.by[strings.LastIndexByte(r.by, '/')+1:]
		r.by = issuer
	}
	for _, o := range in.Resources {
		if o.ARN != "" {
			r.resources = append(r.resources, o.ARN)
		}
	}
	return r, true
}

// throttles are the codes by which services refuse a call for its rate: those of AWS that its SDKs take for throttling
// ("Retry behavior", AWS SDKs and Tools Reference Guide), google.rpc.Code and the sub-status of Azure.
var throttles = []string{
	"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "RequestThrottled", "TooManyRequestsException",
	"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete", "EC2ThrottledException",
	"TransactionInProgressException", "ProvisionedThroughputExceededException",
	"RESOURCE_EXHAUSTED", "TooManyRequests",
}

// bareCode is a code without the side that EC2 puts before it.
func bareCode(code string) string {
	return strings.TrimPrefix(strings.TrimPrefix(code, "Client."), "Server.")
}

func (r record) throttled() bool { return slices.Contains(throttles, bareCode(r.failed)) }

// serverFailed reports whether the error of a call of AWS is the service's own: then it may have written before it failed.
func serverFailed(code string) bool {
	if slices.Contains(throttles, bareCode(code)) {
		return false
	}
	bare := bareCode(code)
	return strings.HasPrefix(code, "Server.") || strings.HasPrefix(bare, "Internal") || strings.HasPrefix(bare, "ServiceUnavailable") ||
		strings.HasPrefix(bare, "RequestTimeout") || strings.Contains(bare, "Timeout") || bare == "Unavailable" || bare == "ServiceException"
}

// name is the call in one line.
func (r record) name() string {
	text := r.at.Format(time.RFC3339) + " " + r.service + ":" + r.call
	const most = 3
	for i, o := range r.resources {
		if i == most {
			text += " …"
			break
		}
		text += " " + o
	}
	if r.id != "" {
		text += " (" + r.id + ")"
	}
	return steps.OneLine(strings.ToValidUTF8(text, "?"), 300)
}

// of reports whether a call is one of the principal, in that session where one is named.
func (r record) of(principal, session string) bool {
	if at, own := roleOf(principal); at != "" {
		if session == "" {
			session = own
		}
		by, _ := roleOf(r.by)
		return by == at && (session == "" || r.session == session)
	}
	return session == "" && (r.by == principal || !strings.HasPrefix(principal, "arn:") && strings.EqualFold(r.by, principal))
}

// roleOf is account and name of a role, which is one in its account whatever its path, and the session where the ARN is that
// of one; "" for what is no role ("IAM identifiers", ARNs; "Reference identifiers for assumed roles").
func roleOf(arn string) (role, session string) {
	p := strings.SplitN(arn, ":", 6)
	if len(p) != 6 || p[0] != "arn" {
		return "", ""
	}
	if name, ok := strings.CutPrefix(p[5], "role/"); ok && p[2] == "iam" {
		return p[4] + "/" + name[strings.LastIndexByte(name, '/')+1:], ""
	}
	if name, ok := strings.CutPrefix(p[5], "assumed-role/"); ok && p[2] == "sts" {
		name, session, _ := strings.Cut(name, "/")
		return p[4] + "/" + name, session
	}
	return "", ""
}

// accountOf is the account of an ARN, "" where it has none.
func accountOf(arn string) string {
	p := strings.SplitN(arn, ":", 6)
	if len(p) != 6 || p[0] != "arn" {
		return ""
	}
	return p[4]
}
