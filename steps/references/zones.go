package references

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// record is one name of a zone that leads to another.
type record struct{ from, kind, to string }

// zone reads the records of a saved zone: what `aws route53 list-resource-record-sets` prints, or a zone file (RFC 1035, 5.1).
func zone(raw []byte) ([]record, error) {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return route53(raw)
	}
	return zoneFile(raw)
}

func lowerName(s string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(s, `"`), "."))
}

func route53(raw []byte) (out []record, err error) {
	var in struct {
		ResourceRecordSets []struct {
			Name, Type      string
			ResourceRecords []struct{ Value string }
			AliasTarget     *struct{ DNSName string }
		}
		IsTruncated bool
		NextToken   string
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("it is no list of record sets: %w", err)
	}
	if in.IsTruncated || in.NextToken != "" {
		return nil, errors.New("the list goes on: read it to its end")
	}
	if len(in.ResourceRecordSets) == 0 {
		return nil, errors.New("it has no record sets")
	}
	for _, s := range in.ResourceRecordSets {
		if len(s.ResourceRecords) == 0 && s.AliasTarget == nil {
			return nil, fmt.Errorf("the set %s does not say where it leads", clip(s.Name))
		}
		for _, r := range s.ResourceRecords {
			out = append(out, record{lowerName(s.Name), s.Type, lowerName(r.Value)})
		}
		if s.AliasTarget != nil {
			out = append(out, record{lowerName(s.Name), s.Type, lowerName(s.AliasTarget.DNSName)})
		}
	}
	return out, nil
}

// zoneTypes are the types of which a zone file says what they lead to, and those that close a line's search for one.
var zoneTypes = map[string]bool{"A": true, "AAAA": true, "CNAME": true, "DNAME": true, "ALIAS": true, "ANAME": true, "MX": true, "NS": true, "PTR": true, "SOA": true, "SRV": true, "TXT": true,
	"CAA": true, "HTTPS": true, "SVCB": true, "DS": true, "DNSKEY": true, "RRSIG": true, "NSEC": true, "NSEC3": true, "NSEC3PARAM": true, "TLSA": true, "NAPTR": true, "SPF": true, "HINFO": true, "LOC": true, "SSHFP": true, "URI": true}

func zoneFile(raw []byte) (out []record, err error) {
	origin, owner := "", ""
	for line := range zoneLines(raw) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch strings.ToUpper(words[0]) {
		case "$ORIGIN":
			if len(words) < 2 {
				return nil, errors.New("its $ORIGIN names nothing")
			}
			origin = absolute(words[1], origin)
			continue
		case "$TTL":
			continue
		case "$INCLUDE", "$GENERATE":
			return nil, fmt.Errorf("it has %s, which is not followed", words[0])
		}
		if line[0] != ' ' && line[0] != '\t' {
			owner = absolute(words[0], origin)
			words = words[1:]
		}
		// A TTL and a class may stand before the type, in any order.
		for len(words) > 0 && !zoneTypes[strings.ToUpper(words[0])] {
			if up := strings.ToUpper(words[0]); up != "IN" && up != "CH" && up != "HS" && (up[0] < '0' || up[0] > '9') {
				return nil, fmt.Errorf("it is no zone: %q is no type of a record", clip(words[0]))
			}
			words = words[1:]
		}
		if len(words) < 2 {
			return nil, errors.New("a record of it has no data")
		}
		kind := strings.ToUpper(words[0])
		for _, w := range words[1:] {
			to := lowerName(w)
			if !strings.HasSuffix(w, ".") && origin != "" && kind != "TXT" && kind != "A" && kind != "AAAA" {
				to = absolute(w, origin)
			}
			out = append(out, record{owner, kind, to})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it has no record")
	}
	return out, nil
}

func absolute(word, origin string) string {
	switch {
	case word == "@":
		return origin
	case strings.HasSuffix(word, ".") || origin == "":
		return lowerName(word)
	}
	return lowerName(word) + "." + origin
}

// zoneLines are the lines of a zone file without comments; what stands in parentheses is one line.
func zoneLines(raw []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		var b strings.Builder
		depth, quoted := 0, false
		for i := 0; i <= len(raw); i++ {
			if i == len(raw) || raw[i] == '\n' && depth == 0 && !quoted {
				if b.Len() > 0 && !yield(b.String()) {
					return
				}
				b.Reset()
				continue
			}
			switch c := raw[i]; {
			case c == '"':
				quoted = !quoted
				b.WriteByte(c)
			case quoted:
				b.WriteByte(c)
			case c == ';':
				for i+1 < len(raw) && raw[i+1] != '\n' {
					i++
				}
			case c == '(':
				depth++
				b.WriteByte(' ')
			case c == ')':
				depth = max(0, depth-1)
				b.WriteByte(' ')
			case c == '\n' || c == '\r':
				b.WriteByte(' ')
			default:
				b.WriteByte(c)
			}
		}
	}
}

// aliases are the names of the records that lead to the server, directly or by another.
func aliases(records []record, hosts []string) (out []string) {
	known := map[string]bool{}
	for _, h := range hosts {
		known[lowerName(h)] = true
	}
	for more := true; more; {
		more = false
		for _, r := range records {
			if known[r.to] && r.from != "" && !known[r.from] {
				known[r.from], more = true, true
				out = append(out, r.from)
			}
		}
	}
	return out
}

func clip(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return strings.ToValidUTF8(s, "?")
}
