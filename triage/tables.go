package triage

// FailureState is a class that a failure can have; the right move follows from it.
type FailureState struct {
	Name    string // the value of TopicClass
	Means   string
	Example string
}

// FailureStates lists the ten failure states.
func FailureStates() []FailureState {
	return []FailureState{
		{"RejectedBeforePlan", "the change never became a plan", "a syntax error, a missing module, a failing init"},
		{"PlanGeneratedButUnsafe", "there is a plan, and policy or risk forbids it", "a bucket made public, a replacement that destroys"},
		{"ApprovedButStale", "what was approved is no longer what would run", "an expired plan, a base branch or state that moved"},
		{"MutationNotStarted", "the run ended before its first write", "a dead runner, refused credentials, a lock not obtained"},
		{"MutationPartiallySucceeded", "some of the change landed, then it failed", "a timeout after the first object was created"},
		{"RecordedStateDiverged", "the recorded state does not describe what exists", "a failed import, a corrupt state, a manual change"},
		{"LiveStateDiverged", "what runs is not what was requested", "a manual edit, a controller that writes, drift"},
		{"ReconciliationBlocked", "the control loop should act and cannot", "missing RBAC or CRD, a refused admission, a bad secret"},
		{"ReconciliationUnsafe", "the control loop could act and must be held", "a runaway prune, a wrong desired state"},
		{"EvidenceIncomplete", "something changed, and the proof is missing", "an unrecorded hotfix, logs that expired"},
	}
}

// Domain is a part of the delivery path that can fail, and who recovers it.
type Domain struct {
	Slug  string // the value of TopicDomain
	Title string
	Fails string
	Owner string
}

// Domains lists the fourteen failure domains.
func Domains() []Domain {
	return []Domain{
		{"source-control", "Source control", "wrong commit, code owners, merge queue, branch protection", "repository owner or platform"},
		{"ci-validation", "CI validation", "tests, lint, rendering, scanners", "author or platform"},
		{"plan-engine", "Plan engine", "graph, modules, providers, init, reading the state", "infrastructure owner or platform"},
		{"policy-engine", "Policy engine", "service down, false positive, broken rule", "platform security or policy owner"},
		{"approval-system", "Approval system", "missing evidence, wrong approver, stale approval", "change manager or platform"},
		{"runner", "Runner", "image, disk, credentials, network, capacity", "platform runtime owner"},
		{"state-backend", "State backend", "access, consistency, versions, lock, corruption", "infrastructure platform owner"},
		{"cloud-apis", "Cloud APIs", "quota, throttling, provider bugs, late consistency", "cloud platform owner"},
		{"gitops-controller", "GitOps controller", "sync, diff, prune, health checks, CRDs, RBAC", "cluster platform owner"},
		{"kubernetes-api", "Kubernetes API", "availability, webhooks, admission, CRDs, RBAC", "cluster platform owner"},
		{"secrets", "Secrets", "rotation, sync, decryption, permission", "security or platform owner"},
		{"artifact-registry", "Artifact registry", "digest mismatch, moved tags, missing images or charts", "delivery or platform owner"},
		{"observability", "Observability", "broken evidence, missing logs or metrics", "platform or SRE"},
		{"human-process", "Human process", "wrong command, unapproved change, emergency bypass", "incident commander or governance"},
	}
}

// SeverityLevel says what a severity means and how it is handled.
type SeverityLevel struct {
	Level    Severity
	Means    string
	Example  string
	Handling string
}

// SeverityLevels lists the severities, the worst first.
func SeverityLevels() []SeverityLevel {
	return []SeverityLevel{
		{Sev1, "wide outage, exposed data, danger of destruction", "a network rule cuts off production", "incident commander, break-glass"},
		{Sev2, "production degraded, or a control loop impaired", "a controller cannot sync a critical app", "incident process"},
		{Sev3, "a production change is stuck, nothing hurt yet", "policy refuses a production apply", "the owner's review at once"},
		{Sev4, "local failure outside production, no user notices", "a development plan fails", "normal queue"},
	}
}

// Line is a severity in one line, for the place where one is chosen.
func (l SeverityLevel) Line() string {
	return l.Means + " (" + l.Example + "): " + l.Handling
}

func severities() []Severity { return []Severity{Sev1, Sev2, Sev3, Sev4} }

func topics() []Topic {
	return []Topic{TopicDomain, TopicMutation, TopicConsistent, TopicClass, TopicOwner, TopicReverts}
}
