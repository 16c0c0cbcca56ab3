package egress

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Policy is what is read of a NetworkPolicy.
type Policy struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		PodSelector Selector `json:"podSelector"`
		PolicyTypes []string `json:"policyTypes"`
		Ingress     []Rule   `json:"ingress"`
		Egress      []Rule   `json:"egress"`
	} `json:"spec"`
}

// Rule allows what is in one of its peers (To for egress, From for ingress) and
// on one of its ports; without any of them it allows all of them.
type Rule struct {
	To    []Peer       `json:"to"`
	From  []Peer       `json:"from"`
	Ports []PolicyPort `json:"ports"`
}

// Peer is an address block, or Pods: those of PodSelector in the namespaces of
// NamespaceSelector, which are both to fit where both are given.
type Peer struct {
	PodSelector       *Selector `json:"podSelector"`
	NamespaceSelector *Selector `json:"namespaceSelector"`
	IPBlock           *IPBlock  `json:"ipBlock"`
}

// IPBlock is a block of addresses without some.
type IPBlock struct {
	CIDR   string   `json:"cidr"`
	Except []string `json:"except"`
}

// PolicyPort is one port of a rule.
type PolicyPort struct {
	Protocol string          `json:"protocol"`
	Port     json.RawMessage `json:"port"`
	EndPort  int64           `json:"endPort"`
}

// Selector fits labels; an empty one fits all.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchExpressions []Requirement     `json:"matchExpressions"`
}

// Requirement is one line of a selector.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// Parse reads a NetworkPolicy as a server sent it.
func Parse(raw []byte) (Policy, error) {
	var p Policy
	if err := json.Unmarshal(raw, &p); err != nil {
		return Policy{}, fmt.Errorf("reading a NetworkPolicy: %w", err)
	}
	return p, p.check()
}

var errOperator = errors.New("an operator of a selector is not known")

// check refuses what would be read as something else than it says.
func (p Policy) check() error {
	selectors := []*Selector{&p.Spec.PodSelector}
	for _, rules := range [][]Rule{p.Spec.Ingress, p.Spec.Egress} {
		for _, r := range rules {
			for _, peer := range append(r.To[:len(r.To):len(r.To)], r.From...) {
				selectors = append(selectors, peer.PodSelector, peer.NamespaceSelector)
			}
		}
	}
	for _, s := range selectors {
		if s == nil {
			continue
		}
		for _, r := range s.MatchExpressions {
			switch r.Operator {
			case "In", "NotIn", "Exists", "DoesNotExist":
			default:
				return fmt.Errorf("%w: %q", errOperator, r.Operator)
			}
		}
	}
	return nil
}

// concerns reports whether a policy is about this direction. A server fills in
// policyTypes; without it egress counts where there are rules for it.
func (p Policy) concerns(direction string) bool {
	if len(p.Spec.PolicyTypes) == 0 {
		return direction == "Ingress" || len(p.Spec.Egress) > 0
	}
	for _, t := range p.Spec.PolicyTypes {
		if t == direction {
			return true
		}
	}
	return false
}
