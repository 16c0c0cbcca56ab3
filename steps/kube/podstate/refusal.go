package podstate

import (
	"regexp"
	"strings"
)

// The parties that refuse to let an object be made.
const (
	ByQuota     = "quota"
	ByPolicy    = "policy"
	ByWebhook   = "webhook"
	ByAccount   = "account"
	ByLimits    = "limits"
	ByNamespace = "namespace"
	ByOther     = "other"
)

var (
	quotaName   = regexp.MustCompile(`(?:exceeded|failed) quota: ([a-z0-9][a-z0-9.-]*)`)
	policyName  = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'`)
	webhookName = regexp.MustCompile(`(?:admission webhook|failed calling webhook) "([^"]+)"`)
	accountName = regexp.MustCompile(`service ?account "?(?:[a-z0-9-]+/)?([a-z0-9][a-z0-9.-]*)`)
	limitsText  = regexp.MustCompile(`(?:maximum|minimum) [a-z0-9./-]+ usage per|limit to request ratio per`)
)

// engines are the webhooks that enforce custom policies.
var engines = []string{"kyverno", "gatekeeper", "kubewarden", "datree", "polaris"}

// RefusedBy says who refused an object, by the words of the API server, and the
// name of the quota, policy, webhook or account where the words have it.
func RefusedBy(message string) (by, name string) {
	first := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(message); m != nil {
			return m[1]
		}
		return ""
	}
	switch {
	case quotaName.MatchString(message):
		return ByQuota, first(quotaName)
	case strings.Contains(message, "violates PodSecurity"):
		return ByPolicy, "PodSecurity"
	case policyName.MatchString(message):
		return ByPolicy, first(policyName)
	case webhookName.MatchString(message):
		name := first(webhookName)
		if strings.Contains(message, "failed calling") {
			return ByWebhook, name
		}
		for _, engine := range engines {
			if strings.Contains(name, engine) {
				return ByPolicy, name
			}
		}
		return ByWebhook, name
	case strings.Contains(message, "looking up service account"):
		return ByAccount, first(accountName)
	case limitsText.MatchString(message):
		return ByLimits, ""
	case strings.Contains(message, "because it is being terminated"):
		return ByNamespace, ""
	case strings.Contains(message, "is forbidden: User "), strings.Contains(message, "cannot create resource"):
		return ByAccount, ""
	}
	return ByOther, ""
}
